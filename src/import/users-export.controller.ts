import { Get, Res } from '@nestjs/common';
import type { Response } from 'express';
import type { Caller } from '../access/actor.js';
import { CurrentCaller, Requires } from '../access/decorators.js';
import { AuditService } from '../audit/audit.service.js';
import { Accepts, CheckedQuery } from '../platform/http/input.guard.js';
import { streamText } from '../platform/http/stream.js';
import { ApiController, DescribeRoute, describeCsv } from '../platform/openapi/route-docs.js';
import { ExportQuery } from './import.query.js';
import { UsersExport } from './report/users-export.js';

/**
 * Controller of the user export. It belongs to imports, because the exported file has the columns of an import file.
 */
@ApiController('users/export.csv', 'users')
export class UsersExportController {
  constructor(
    private readonly users: UsersExport,
    private readonly audit: AuditService,
  ) {}

  @Get()
  @DescribeRoute('exportUsers', 'Export users as a CSV file', {
    description:
      'Exports all users with an external id, in the columns of the import format. Importing the unchanged file changes nothing.',
    answer: describeCsv('The exported users.'),
  })
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
    await streamText(response, this.users.streamLines(all));
  }
}
