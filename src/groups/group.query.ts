import { ChoiceParam, IntegerParam, TextParam, UuidParam } from '../platform/input/query-rules.js';
import { AfterParam, LimitParam } from '../platform/http/page.js';
import { MAX_GROUP_EXTERNAL_ID, MAX_GROUP_NAME } from './group.js';

const SORTS = ['display_name', 'created', 'updated'] as const;

/** The query of `GET /groups`. */
export class GroupQuery {
  @IntegerParam(0, { default: 0, description: 'Groups to skip. Not together with after.' })
  offset?: number;

  @LimitParam()
  limit: number = 25;

  @ChoiceParam(SORTS, { default: 'display_name' })
  sort: (typeof SORTS)[number] = 'display_name';

  @ChoiceParam(['asc', 'desc'], { default: 'asc' })
  order: 'asc' | 'desc' = 'asc';

  @TextParam(2000, { description: 'Opaque; from the `Link: rel="next"` header of the page before.' })
  after?: string;

  @TextParam(MAX_GROUP_NAME, { description: 'Exact, in any case.' })
  display_name?: string;

  @TextParam(MAX_GROUP_EXTERNAL_ID, { description: 'Exact, case-sensitive.' })
  external_id?: string;

  @UuidParam({ description: 'A user: the groups of which it is a member.' })
  user_uuid?: string;
}

/** Members in one answer. */
export const MAX_MEMBERS = 1000;

/** The query of `GET /groups/{group_id}`. */
export class GroupMembersQuery {
  @IntegerParam(1, {
    default: MAX_MEMBERS,
    description: `Members in the answer; above ${MAX_MEMBERS} it is taken as ${MAX_MEMBERS}.`,
  })
  limit: number = MAX_MEMBERS;

  @AfterParam()
  after?: string;
}
