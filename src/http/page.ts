import { ApiPropertyOptional } from '@nestjs/swagger';
import type { Request } from 'express';
import { IntegerParam, MAX_INTEGER, PatternParam } from '../input/query-rules.js';
import { all } from '../input/rules.js';
import { UUID } from '../common/uuid.js';

export const MAX_LIMIT = 100;

export const LimitParam = () =>
  all(
    ApiPropertyOptional({
      type: 'integer',
      minimum: 1,
      maximum: MAX_INTEGER,
      default: 25,
      description: `Above ${MAX_LIMIT} it is taken as ${MAX_LIMIT}.`,
    }),
    IntegerParam(1),
  );

/** The id of the last record of a page. */
export const AfterParam = () =>
  all(
    ApiPropertyOptional({
      format: 'uuid',
      description: 'From the `Link: rel="next"` header of the page before.',
    }),
    PatternParam(UUID, 'must be the cursor of a page'),
  );

/** The part of a query that cuts a list into pages. */
export class Page {
  @ApiPropertyOptional({ type: 'integer', minimum: 0, maximum: MAX_INTEGER, default: 0 })
  @IntegerParam(0)
  offset: number = 0;

  @LimitParam()
  limit: number = 25;
}

/** The part of a query that walks a list from its newest record to its oldest. */
export class Walk {
  @LimitParam()
  limit: number = 25;

  @AfterParam()
  after?: string;
}

/** `limit` as it is used. */
export const limitOf = ({ limit }: { limit: number }): number => Math.min(limit, MAX_LIMIT);

export const page = (query: Page) => ({ offset: query.offset, limit: limitOf(query) });

/** The same request behind the last record of this page (`Link: rel="next"`). */
export function nextPage(request: Request, after: string): string {
  const { searchParams: query } = new URL(request.originalUrl, 'http://localhost');
  query.delete('offset');
  query.set('after', after);
  return `${request.path}?${query.toString()}`;
}
