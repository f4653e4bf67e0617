import {
  BooleanParam,
  ChoiceParam,
  ChoicesParam,
  IntegerParam,
  PatternParam,
  TextParam,
  TextsParam,
  TimeParam,
  UuidParam,
} from '../../platform/input/query-rules.js';
import { LimitParam } from '../../platform/http/page.js';
import type { Direction } from '../../platform/database/keyset-pages.js';
import { MAX, STATUSES } from '../model/formats.js';

const SORTS = [
  'relevance',
  'updated',
  'created',
  'firstname',
  'surname',
  'username',
  'email',
  'external_id',
  'status',
] as const;
export type Sort = (typeof SORTS)[number];

/** Conditions that a user must match. */
export class UserConditions {
  @TextParam(255, {
    description:
      'Text as a person types it. An external id, a uuid or an e-mail address finds one user. `@example.org` finds the users of this e-mail domain. Four or more digits find the users whose phone or mobile number ends with them. Any other text finds words that start with the typed words.',
    example: 'jane do',
  })
  find?: string;

  @TextParam(255, {
    description:
      'Search term of at most ten words. Each word must match a whole word of a name, username, e-mail address or external id. A * after at least two characters matches every word that starts with them, as in `jane do*`.',
  })
  fulltext_search?: string;

  @TextParam(MAX.externalId, { description: 'Exact match, case-sensitive.' })
  external_id?: string;

  @TextParam(MAX.username, { description: 'Exact match, case-insensitive.' })
  username?: string;

  @TextParam(MAX.email, { description: 'Exact match, case-insensitive.' })
  email?: string;

  @TextParam(MAX.email, {
    description: 'Domain of the e-mail address, as in `example.org`. Exact match, case-insensitive.',
  })
  email_domain?: string;

  @PatternParam(/^\D*(?:\d\D*){4,60}$/, 'must have 4 to 60 digits', {
    maxLength: MAX.phone,
    description:
      'Last digits of the phone or mobile number, at least four. Other characters, such as spaces, are ignored.',
    example: '7946 0958',
  })
  phone?: string;

  @ChoicesParam(STATUSES, { description: 'Can be repeated to match any of several values.' })
  status?: string[];

  @TextsParam(MAX.role, {
    description: 'Case-insensitive. Can be repeated to match any of several roles.',
  })
  role?: string[];

  @PatternParam(/^[a-z0-9_-]{1,32}:[^\p{Cc}]{1,255}$/u, 'must be a method and a name, such as saml:jane', {
    maxLength: 288,
    description: 'Authentication method and login name, as in `saml:jane.doe@idp.example.org`. Exact match.',
  })
  authname?: string;

  @UuidParam()
  manager_uuid?: string;

  @TimeParam({ description: 'Only users changed at this time or later.' })
  updated_since?: string;

  @TimeParam({ description: 'Only users created at this time or later.' })
  created_since?: string;

  @TextParam(64, { description: 'Only users that this data set manages.' })
  managed_by?: string;

  @BooleanParam()
  has_external_id?: boolean;
}

export class UserQuery extends UserConditions {
  @IntegerParam(0, { default: 0, description: 'Number of users to skip. Cannot be combined with `after`.' })
  offset?: number;

  @LimitParam()
  limit?: number;

  @ChoiceParam(SORTS, {
    default: 'relevance',
    description: 'Sort field. Without a search term, `relevance` sorts by `updated`.',
  })
  sort?: Sort;

  @ChoiceParam(['asc', 'desc'], { default: 'desc' })
  order?: Direction;

  @TextParam(2000, { description: 'Opaque cursor from the `Link: rel="next"` header of the previous page.' })
  after?: string;
}

/** Conditions of an export, or search conditions derived from the text in `find`. */
export interface FoundConditions extends UserConditions {
  uuid?: string[];
}

/** A query with the conditions derived from `find`. */
export interface ResolvedQuery extends UserQuery, FoundConditions {
  found?: FoundConditions;
}

/** Returns the sort field of a query. Without a search term, `relevance` becomes `updated`. */
export function resolveSort({ sort = 'relevance', fulltext_search, found }: ResolvedQuery): Sort {
  return sort === 'relevance' && (fulltext_search ?? found?.fulltext_search) === undefined ? 'updated' : sort;
}
