import { ApiPropertyOptional } from '@nestjs/swagger';
import type { Request } from 'express';
import { IntegerParam } from './query-rules.js';

const MAX_LIMIT = 100;

/** The part of a query that cuts a list into pages. */
export class Page {
  @ApiPropertyOptional({ type: 'integer', minimum: 0, default: 0 })
  @IntegerParam(0)
  offset: number = 0;

  @ApiPropertyOptional({
    type: 'integer',
    minimum: 1,
    default: 25,
    description: `Above ${MAX_LIMIT} it is taken as ${MAX_LIMIT}.`,
  })
  @IntegerParam(1)
  limit: number = 25;
}

/** `limit` as it is used. */
export const page = ({ offset, limit }: Page) => ({ offset, limit: Math.min(limit, MAX_LIMIT) });

/** The same request behind the last record of this page (`Link: rel="next"`). */
export function nextPage(request: Request, after: string): string {
  const { searchParams: query } = new URL(request.originalUrl, 'http://localhost');
  query.delete('offset');
  query.set('after', after);
  return `${request.path}?${query.toString()}`;
}
