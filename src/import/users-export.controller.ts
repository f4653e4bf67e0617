import { Get, Res } from '@nestjs/common';
import type { Response } from 'express';
import type { Caller } from '../access/actor.js';
import { CurrentCaller, Requires } from '../access/decorators.js';
import { AuditService } from '../audit/audit.service.js';
import { Accepts, CheckedQuery } from '../platform/http/input.guard.js';
import { abortOnDisconnect, streamText } from '../platform/http/stream.js';
import { ApiController, DescribeRoute, describeCsv } from '../platform/openapi/route-docs.js';
import { UserSearch } from '../users/search/user-search.service.js';
import { ExportQuery } from './import.query.js';
import { UsersExport } from './report/users-export.js';

/**
 * Controller of the user export. It belongs to imports, because the exported file has the columns of an import file.
 */
@ApiController('users/export.csv', 'users')
export class UsersExportController {
  constructor(
    private readonly search: UserSearch,
    private readonly users: UsersExport,
    private readonly audit: AuditService,
  ) {}

  @Get()
  @DescribeRoute('exportUsers', 'Export users as a CSV file', {
    description:
      'Exports the users that match all conditions, in the columns of the import format. Without conditions, exports all users ' +
      'with an external id. Importing the unchanged file changes nothing.',
    answer: describeCsv('The exported users.'),
  })
  @Requires('users.export')
  @Accepts({ query: ExportQuery })
  async export(
    @CheckedQuery() { all, ...filters }: ExportQuery,
    @CurrentCaller() caller: Caller,
    @Res() response: Response,
  ): Promise<void> {
    const conditions = { ...(!all && { has_external_id: true }), ...filters };
    const pages = await this.search.readAll(conditions, caller.actor, abortOnDisconnect(response));
    await this.audit.recordExport(caller, all, Object.keys(filters));
    response.setHeader('Content-Type', 'text/csv; charset=utf-8');
    response.setHeader('Content-Disposition', 'attachment; filename="users.csv"');
    await streamText(response, this.users.streamLines(pages));
  }
}
