import { Get, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { Requires } from '../access/decorators.js';
import { BOM, csvLine } from '../platform/common/csv.js';
import { Accepts, CheckedQuery } from '../platform/http/input.guard.js';
import { Page, limitOf, nextPage, page } from '../platform/http/page.js';
import { streamText } from '../platform/http/stream.js';
import { NEXT } from '../platform/openapi/docs.js';
import { ApiController, Doc, describeCsv, describeJson } from '../platform/openapi/route-docs.js';
import { AuditFilter, AuditQuery } from './audit.query.js';
import { AuditService } from './audit.service.js';
import {
  AuditPageDto,
  AuditSealPageDto,
  CSV_COLUMNS,
  csvCells,
  presentEvent,
  presentSeal,
} from './audit.view.js';
import { Sealer } from './sealer.service.js';

@ApiController('', 'audit')
export class AuditController {
  constructor(
    private readonly audit: AuditService,
    private readonly sealer: Sealer,
  ) {}

  @Get('audit')
  @Doc('listAuditEvents', 'Who did what, newest first', {
    description:
      'The `Link: rel="next"` header leads to the next page; a page is full as long as there are more. Of `target`, `actor` ' +
      'and `action` the one with the fewest events is looked up, and the other filters are applied to those. Where that ' +
      'takes longer than `SEARCH_TIMEOUT` the answer is 422 `search_too_broad`: name a target, or a time.',
    answer: describeJson('A page of events.', AuditPageDto, NEXT),
    errors: ['search_too_broad'],
  })
  @Requires('audit.read')
  @Accepts({ query: AuditQuery })
  async list(
    @CheckedQuery() query: AuditQuery,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<AuditPageDto> {
    const { records, nameOf, last } = await this.audit.page(query, query.after, limitOf(query));
    if (last !== undefined) response.links({ next: nextPage(request, last) });
    const { count, exact } = await this.audit.count(query);
    return {
      Count: count,
      CountIsExact: exact,
      Results: records.map((record) => presentEvent(record, nameOf)),
    };
  }

  @Get('audit.csv')
  @Doc('exportAuditEvents', 'The audit as a CSV file', {
    description: 'All events of the filters, newest first.',
    answer: describeCsv('The events.'),
  })
  @Requires('audit.read')
  @Accepts({ query: AuditFilter })
  async file(@CheckedQuery() filter: AuditFilter, @Res() response: Response): Promise<void> {
    response.setHeader('Content-Type', 'text/csv; charset=utf-8');
    response.setHeader('Content-Disposition', 'attachment; filename="audit.csv"');
    await streamText(response, this.lines(filter));
  }

  @Get('audit/seals')
  @Doc('listAuditSeals', 'Seals of the audit, newest first', {
    description:
      'An event of before `until` of the newest seal is sealed: `rollcall audit verify` shows whether it was changed. Keep hashes ' +
      'of seals elsewhere, for its `--expect`.',
    answer: describeJson('A page of seals.', AuditSealPageDto),
  })
  @Requires('audit.read')
  @Accepts({ query: Page })
  async listSeals(@CheckedQuery() query: Page): Promise<AuditSealPageDto> {
    const { offset, limit } = page(query);
    const { count, purged, seals } = await this.sealer.page(offset, limit);
    return { Count: count, Results: seals.map((seal) => presentSeal(seal, purged)) };
  }

  private async *lines(filter: AuditFilter): AsyncGenerator<string> {
    yield BOM + csvLine(CSV_COLUMNS);
    for await (const records of this.audit.all(filter)) {
      yield records.map((record) => csvLine(csvCells(record))).join('');
    }
  }
}
