import { Controller, Get, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { Requires } from '../access/decorators.js';
import { BOM, csvLine } from '../platform/common/csv.js';
import { Accepts, CheckedQuery } from '../platform/http/input.guard.js';
import { limitOf, nextPage } from '../platform/http/page.js';
import { streamText } from '../platform/http/stream.js';
import { type AuditPageDto, DocAudit, DocAuditCsv } from './audit.docs.js';
import { AuditFilter, AuditQuery } from './audit.query.js';
import { AuditService } from './audit.service.js';
import { CSV_COLUMNS, csvCells, presentEvent } from './audit.view.js';

@ApiTags('audit')
@Controller()
export class AuditController {
  constructor(private readonly audit: AuditService) {}

  @Get('audit')
  @DocAudit()
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
  @DocAuditCsv()
  @Requires('audit.read')
  @Accepts({ query: AuditFilter })
  async file(@CheckedQuery() filter: AuditFilter, @Res() response: Response): Promise<void> {
    response.setHeader('Content-Type', 'text/csv; charset=utf-8');
    response.setHeader('Content-Disposition', 'attachment; filename="audit.csv"');
    await streamText(response, this.lines(filter));
  }

  private async *lines(filter: AuditFilter): AsyncGenerator<string> {
    yield BOM + csvLine(CSV_COLUMNS);
    for await (const records of this.audit.all(filter)) {
      yield records.map((record) => csvLine(csvCells(record))).join('');
    }
  }
}
