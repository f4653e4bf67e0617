import { Controller, Get, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import type { Caller } from '../access/actor.js';
import { CurrentCaller, Requires } from '../access/decorators.js';
import { AuditService } from '../audit/audit.service.js';
import { Accepts, CheckedQuery } from '../platform/http/input.guard.js';
import { streamText } from '../platform/http/stream.js';
import { ExportQuery } from './import.query.js';
import { DocExport } from './imports.docs.js';
import { UsersExport } from './report/users-export.js';

/** Part of the imports, because it writes their columns. */
@ApiTags('users')
@Controller('users/export.csv')
export class UsersExportController {
  constructor(
    private readonly users: UsersExport,
    private readonly audit: AuditService,
  ) {}

  @Get()
  @DocExport()
  @Requires('users.export')
  @Accepts({ query: ExportQuery })
  async export(
    @CheckedQuery() { all }: ExportQuery,
    @CurrentCaller() caller: Caller,
    @Res() response: Response,
  ): Promise<void> {
    await this.audit.recordExport(caller, all);
    response.setHeader('Content-Type', 'text/csv; charset=utf-8');
    response.setHeader('Content-Disposition', 'attachment; filename="users.csv"');
    await streamText(response, this.users.lines(all));
  }
}
