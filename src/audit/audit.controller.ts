import { Get, Res } from '@nestjs/common';
import type { Response } from 'express';
import { Requires } from '../access/decorators.js';
import { BOM, toCsvLine } from '../platform/common/csv.js';
import { Accepts, CheckedQuery } from '../platform/http/input.guard.js';
import { clampLimit, buildNextPageUrl } from '../platform/http/page.js';
import { streamText } from '../platform/http/stream.js';
import { NEXT_PAGE_LINK } from '../platform/openapi/shared-schemas.js';
import { ApiController, DescribeRoute, describeCsv, describeJson } from '../platform/openapi/route-docs.js';
import { AuditFilter, AuditQuery } from './audit.query.js';
import { AuditService } from './audit.service.js';
import { AuditPageDto, CSV_COLUMNS, toCsvCells, presentEvent } from './audit.view.js';

@ApiController('', 'audit')
export class AuditController {
  constructor(private readonly audit: AuditService) {}

  @Get('audit')
  @DescribeRoute('listAuditEvents', 'List audit events, newest first', {
    description:
      'The `Link: rel="next"` header contains the URL of the next page. Every page except the last one is full. The service ' +
      'looks up the most selective of `target`, `actor` and `action`, and applies the other filters to the events it finds. ' +
      'If this takes longer than `SEARCH_TIMEOUT`, the response is 422 `search_too_broad`: add a target or a shorter time range.',
    answer: describeJson('A page of events.', AuditPageDto, NEXT_PAGE_LINK),
    errors: ['search_too_broad'],
  })
  @Requires('audit.read')
  @Accepts({ query: AuditQuery })
  async list(
    @CheckedQuery() query: AuditQuery,
    @Res({ passthrough: true }) response: Response,
  ): Promise<AuditPageDto> {
    const { records, nameOf, last, count, exact } = await this.audit.readPage(query, clampLimit(query));
    if (last !== undefined) response.links({ next: buildNextPageUrl(response.req, last) });
    const Results = records.map((record) => presentEvent(record, nameOf));
    return { Count: count, CountIsExact: exact, Results };
  }

  @Get('audit.csv')
  @DescribeRoute('exportAuditEvents', 'Export audit events as CSV', {
    description: 'All events that match the filters, newest first.',
    answer: describeCsv('The matching events.'),
  })
  @Requires('audit.read')
  @Accepts({ query: AuditFilter })
  async exportCsv(@CheckedQuery() filter: AuditFilter, @Res() response: Response): Promise<void> {
    response.setHeader('Content-Type', 'text/csv; charset=utf-8');
    response.setHeader('Content-Disposition', 'attachment; filename="audit.csv"');
    await streamText(response, this.toCsvLines(filter));
  }

  private async *toCsvLines(filter: AuditFilter): AsyncGenerator<string> {
    yield BOM + toCsvLine(CSV_COLUMNS);
    for await (const records of this.audit.readAll(filter)) {
      yield records.map((record) => toCsvLine(toCsvCells(record))).join('');
    }
  }
}
