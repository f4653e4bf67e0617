import { Page } from '../http/page.js';
import { UuidParam } from '../input/query-rules.js';

export class SessionsQuery extends Page {
  @UuidParam({ description: 'Of this user alone.' })
  user_uuid?: string;
}
