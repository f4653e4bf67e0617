import { Get, Param, Res } from '@nestjs/common';
import type { Response } from 'express';
import type { Caller } from '../access/actor.js';
import { CurrentCaller, Requires } from '../access/decorators.js';
import { AuditService } from '../audit/audit.service.js';
import { CursorQuery, clampLimit, buildNextPageUrl } from '../platform/http/page.js';
import { Accepts, CheckedQuery } from '../platform/http/input.guard.js';
import { NEXT_PAGE_LINK } from '../platform/openapi/shared-schemas.js';
import { ApiController, DescribeRoute, describeJson } from '../platform/openapi/route-docs.js';
import { DeletedUsers } from './deleted-users.service.js';
import { HistoryPageDto, presentHistory } from './user-history.view.js';
import { UsersService } from './users.service.js';

@ApiController('users/:user_id/history', 'users')
export class UserHistoryController {
  constructor(
    private readonly users: UsersService,
    private readonly audit: AuditService,
    private readonly deleted: DeletedUsers,
  ) {}

  @Get()
  @DescribeRoute('listUserHistory', 'List the history of a user, newest event first', {
    description:
      'Returns the audit events of a user, also of a deleted user, with the names of actors and a summary of each event.',
    answer: describeJson('A page of audit events.', HistoryPageDto, NEXT_PAGE_LINK),
  })
  @Requires('audit.read')
  @Accepts({ query: CursorQuery })
  async list(
    @Param('user_id') uuid: string,
    @CheckedQuery() query: CursorQuery,
    @CurrentCaller() caller: Caller,
    @Res({ passthrough: true }) response: Response,
  ): Promise<HistoryPageDto> {
    if (!(await this.deleted.has(uuid))) await this.users.get(uuid, caller);
    const filter = { target: uuid };
    const { records, nameOf, last } = await this.audit.readPage(filter, query.after, clampLimit(query));
    const { count, exact } = await this.audit.count(filter);
    if (last !== undefined) response.links({ next: buildNextPageUrl(response.req, last) });
    const events = records.map((record) => presentHistory(record, nameOf));
    return { Count: count, CountIsExact: exact, Results: events };
  }
}
