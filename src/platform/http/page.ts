import type { Type } from '@nestjs/common';
import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import type { Request } from 'express';
import { IntegerParam, UuidParam } from '../input/query-rules.js';

const DEFAULT_LIMIT = 25;
export const MAX_LIMIT = 100;

/** Schema of `Count` in a page of a search. */
export const PAGE_COUNT = {
  type: 'integer',
  minimum: 0,
  example: 1,
  description: 'All that match, not only this page.',
} as const;

/** Creates the base class of a page of records. @param count schema of `Count`. */
export function PageOf<T>(type: Type<T>, count: ApiPropertyOptions = COUNT, maxItems = MAX_LIMIT) {
  class PageDto {
    @ApiProperty(count) Count!: number;
    @ApiProperty({ type: [type], maxItems }) Results!: T[];
  }
  return PageDto;
}

const COUNT = { type: 'integer', minimum: 0 } as const;

export const LimitParam = () =>
  IntegerParam(1, { default: DEFAULT_LIMIT, description: `Above ${MAX_LIMIT} it is taken as ${MAX_LIMIT}.` });

/** The id of the last record of a page. */
export const AfterParam = () =>
  UuidParam(
    { description: 'From the `Link: rel="next"` header of the page before.' },
    'must be the cursor of a page',
  );

/** The query parameters of a list with an offset. */
export class Page {
  @IntegerParam(0, { default: 0 })
  offset: number = 0;

  @LimitParam()
  limit: number = 25;
}

/** The query parameters of a list that is walked from its newest record to its oldest. */
export class Walk {
  @LimitParam()
  limit: number = 25;

  @AfterParam()
  after?: string;
}

/** The records of a page: `limit`, at most `MAX_LIMIT`. */
export const limitOf = ({ limit = DEFAULT_LIMIT }: { limit?: number }): number => Math.min(limit, MAX_LIMIT);

export const page = (query: Page) => ({ offset: query.offset, limit: limitOf(query) });

/** The same request behind the last record of this page (`Link: rel="next"`). */
export function nextPage(request: Request, after: string): string {
  const { searchParams: query } = new URL(request.originalUrl, 'http://localhost');
  query.delete('offset');
  query.set('after', after);
  return `${request.path}?${query.toString()}`;
}
