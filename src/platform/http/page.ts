import type { Type } from '@nestjs/common';
import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import type { Request } from 'express';
import { IntegerParam, UuidParam } from '../input/query-rules.js';

const DEFAULT_LIMIT = 25;
export const MAX_LIMIT = 100;

export const PAGE_COUNT = {
  type: 'integer',
  minimum: 0,
  example: 1,
  description: 'Total number of matches on all pages.',
} as const;

/** Creates the base class of a page of records. @param count schema of the `Count` property. */
export function PageOf<T>(type: Type<T>, count: ApiPropertyOptions = COUNT, maxItems = MAX_LIMIT) {
  class PageDto {
    @ApiProperty(count) Count!: number;
    @ApiProperty({ type: [type], maxItems }) Results!: T[];
  }
  return PageDto;
}

const COUNT = { type: 'integer', minimum: 0 } as const;

export const LimitParam = () =>
  IntegerParam(1, {
    default: DEFAULT_LIMIT,
    description: `Page size. Values above ${MAX_LIMIT} are treated as ${MAX_LIMIT}.`,
  });

/** Declares the cursor parameter of a list. The cursor is the id of the last record of the previous page. */
export const AfterParam = () =>
  UuidParam(
    { description: 'Cursor from the `Link: rel="next"` header of the previous page.' },
    'must be the cursor of a page',
  );

export class PageQuery {
  @IntegerParam(0, { default: 0 })
  offset: number = 0;

  @LimitParam()
  limit: number = 25;
}

export const clampLimit = ({ limit = DEFAULT_LIMIT }: { limit?: number }) => Math.min(limit, MAX_LIMIT);

export const toPageRange = (query: PageQuery) => ({ offset: query.offset, limit: clampLimit(query) });

/** Returns the path and query of the next page (`Link: rel="next"`). @param after id of the last record of this page. */
export function buildNextPageUrl(request: Request, after: string): string {
  const { searchParams: query } = new URL(request.originalUrl, 'http://localhost');
  query.delete('offset');
  query.set('after', after);
  return `${request.path}?${query.toString()}`;
}
