import { Page } from '../http/page.js';
import { UuidParam } from '../input/query-rules.js';

export class SessionsQuery extends Page {
  @UuidParam({ description: 'Of this user only.' })
  user_uuid?: string;
}
