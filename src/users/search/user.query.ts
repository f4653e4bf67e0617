import { ApiPropertyOptional } from '@nestjs/swagger';
import { choices } from '../../http/docs.js';
import {
  BooleanParam,
  ChoiceParam,
  ChoicesParam,
  IntegerParam,
  MAX_INTEGER,
  MAX_REPEATS,
  PatternParam,
  TextParam,
  TextsParam,
  TimeParam,
} from '../../input/query-rules.js';
import { UUID } from '../../common/uuid.js';

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
export type Order = 'asc' | 'desc';

export const DEFAULT_LIMIT = 25;
export const MAX_LIMIT = 100;

/** The query of `GET /users/search` (interface §5). */
export class UserQuery {
  @ApiPropertyOptional({
    type: 'integer',
    minimum: 0,
    maximum: MAX_INTEGER,
    default: 0,
    description: 'Users to skip. Not together with after.',
  })
  @IntegerParam(0)
  offset?: number;

  @ApiPropertyOptional({
    type: 'integer',
    minimum: 1,
    maximum: MAX_INTEGER,
    default: DEFAULT_LIMIT,
    description: 'Above 100 it is taken as 100.',
  })
  @IntegerParam(1)
  limit?: number;

  @ApiPropertyOptional({
    ...choices(SORTS),
    default: 'relevance',
    description: 'Without a search term, relevance is updated.',
  })
  @ChoiceParam(SORTS)
  sort?: Sort;

  @ApiPropertyOptional({ ...choices(['asc', 'desc']), default: 'desc' })
  @ChoiceParam(['asc', 'desc'])
  order?: Order;

  @ApiPropertyOptional({
    maxLength: 2000,
    description: 'Opaque; from the `Link: rel="next"` header of the page before.',
  })
  @TextParam(2000)
  after?: string;

  @ApiPropertyOptional({
    maxLength: 255,
    description:
      'Every word must match a whole word of a name, username, e-mail or external id; a trailing * matches its beginnings (`jane do*`). At most ten words.',
  })
  @TextParam(255)
  fulltext_search?: string;

  @ApiPropertyOptional({ maxLength: 255, description: 'Exact, case-sensitive.' })
  @TextParam(255)
  external_id?: string;

  @ApiPropertyOptional({ maxLength: 254, description: 'Exact, in any case.' })
  @TextParam(254)
  username?: string;

  @ApiPropertyOptional({ maxLength: 254, description: 'Exact, in any case.' })
  @TextParam(254)
  email?: string;

  @ApiPropertyOptional({
    enum: ['Active', 'Blocked'],
    isArray: true,
    maxItems: MAX_REPEATS,
    description: 'May be repeated (or).',
  })
  @ChoicesParam(['Active', 'Blocked'])
  status?: string[];

  @ApiPropertyOptional({
    type: 'array',
    items: { type: 'string', maxLength: 64 },
    maxItems: MAX_REPEATS,
    description: 'Role name in any case; may be repeated (or).',
  })
  @TextsParam(64)
  role?: string[];

  @ApiPropertyOptional({
    maxLength: 288,
    description: 'method:name, exact (`saml:jane.doe@idp.example.org`).',
  })
  @PatternParam(/^[a-z0-9_-]{1,32}:[^\p{Cc}]{1,255}$/u, 'must be a method and a name, such as saml:jane')
  authname?: string;

  @ApiPropertyOptional({ format: 'uuid' })
  @PatternParam(UUID, 'must be a UUID')
  manager_uuid?: string;

  @ApiPropertyOptional({ format: 'date-time', description: 'Changed at this time or later.' })
  @TimeParam()
  updated_since?: string;

  @ApiPropertyOptional({ format: 'date-time', description: 'Created at this time or later.' })
  @TimeParam()
  created_since?: string;

  @ApiPropertyOptional({ maxLength: 64, description: 'Data set of the import that manages the user.' })
  @TextParam(64)
  managed_by?: string;

  @ApiPropertyOptional({ type: Boolean })
  @BooleanParam()
  has_external_id?: boolean;
}

/** Relevance needs a search term; without one the default is the latest change. */
export function effectiveSort({ sort = 'relevance', fulltext_search }: UserQuery): Sort {
  return sort === 'relevance' && fulltext_search === undefined ? 'updated' : sort;
}
