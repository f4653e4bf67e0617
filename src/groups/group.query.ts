import { ChoiceParam, IntegerParam, TextParam, UuidParam } from '../platform/input/query-rules.js';
import { AfterParam, LimitParam } from '../platform/http/page.js';
import { MAX_GROUP_EXTERNAL_ID, MAX_GROUP_NAME } from './group.js';

const SORTS = ['display_name', 'created', 'updated'] as const;

export class GroupQuery {
  @IntegerParam(0, { default: 0, description: 'Number of groups to skip. Cannot be combined with `after`.' })
  offset?: number;

  @LimitParam()
  limit: number = 25;

  @ChoiceParam(SORTS, { default: 'display_name' })
  sort: (typeof SORTS)[number] = 'display_name';

  @ChoiceParam(['asc', 'desc'], { default: 'asc' })
  order: 'asc' | 'desc' = 'asc';

  @TextParam(2000, { description: 'Opaque cursor from the `Link: rel="next"` header of the previous page.' })
  after?: string;

  @TextParam(MAX_GROUP_NAME, { description: 'Exact match, case-insensitive.' })
  display_name?: string;

  @TextParam(MAX_GROUP_EXTERNAL_ID, { description: 'Exact match, case-sensitive.' })
  external_id?: string;

  @UuidParam({ description: 'Only groups that this user is a member of.' })
  user_uuid?: string;
}

export const MAX_MEMBERS = 1000;

/** Query parameters of `GET /groups/{group_id}`. */
export class GroupMembersQuery {
  @IntegerParam(1, {
    default: MAX_MEMBERS,
    description: `Number of members per page. Values above ${MAX_MEMBERS} are treated as ${MAX_MEMBERS}.`,
  })
  limit: number = MAX_MEMBERS;

  @AfterParam()
  after?: string;
}
