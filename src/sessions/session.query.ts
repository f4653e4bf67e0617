import { Page } from '../platform/http/page.js';
import { UuidParam } from '../platform/input/query-rules.js';

export class SessionsQuery extends Page {
  @UuidParam({ description: 'Of this user only.' })
  user_uuid?: string;
}
