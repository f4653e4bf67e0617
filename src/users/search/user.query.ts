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

/** The query of `GET /users/search` (interface §5). */
export class UserQuery {
  @IntegerParam(0, { default: 0, description: 'Users to skip. Not together with after.' })
  offset?: number;

  @LimitParam()
  limit?: number;

  @ChoiceParam(SORTS, { default: 'relevance', description: 'Without a search term, relevance is updated.' })
  sort?: Sort;

  @ChoiceParam(['asc', 'desc'], { default: 'desc' })
  order?: Direction;

  @TextParam(2000, { description: 'Opaque; from the `Link: rel="next"` header of the page before.' })
  after?: string;

  @TextParam(255, {
    description:
      'Every word must match a whole word of a name, username, e-mail or external id; a trailing * behind two or more characters matches its beginnings (`jane do*`). At most ten words.',
  })
  fulltext_search?: string;

  @TextParam(MAX.externalId, { description: 'Exact, case-sensitive.' })
  external_id?: string;

  @TextParam(MAX.username, { description: 'Exact, in any case.' })
  username?: string;

  @TextParam(MAX.email, { description: 'Exact, in any case.' })
  email?: string;

  @ChoicesParam(STATUSES, { description: 'May be repeated (or).' })
  status?: string[];

  @TextsParam(MAX.role, { description: 'Role name in any case; may be repeated (or).' })
  role?: string[];

  @PatternParam(/^[a-z0-9_-]{1,32}:[^\p{Cc}]{1,255}$/u, 'must be a method and a name, such as saml:jane', {
    maxLength: 288,
    description: 'method:name, exact (`saml:jane.doe@idp.example.org`).',
  })
  authname?: string;

  @UuidParam()
  manager_uuid?: string;

  @TimeParam({ description: 'Changed at this time or later.' })
  updated_since?: string;

  @TimeParam({ description: 'Created at this time or later.' })
  created_since?: string;

  @TextParam(64, { description: 'Data set of the import that manages the user.' })
  managed_by?: string;

  @BooleanParam()
  has_external_id?: boolean;
}

/** Relevance needs a search term; without one the default is the latest change. */
export function effectiveSort({ sort = 'relevance', fulltext_search }: UserQuery): Sort {
  return sort === 'relevance' && fulltext_search === undefined ? 'updated' : sort;
}
