import { Controller, Get, Param, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import type { Caller } from '../access/actor.js';
import { CurrentCaller, Requires } from '../access/decorators.js';
import { presentEvent } from '../audit/audit.view.js';
import { Walk, limitOf, nextPage } from '../platform/http/page.js';
import { Accepts, CheckedQuery } from '../platform/http/input.guard.js';
import { UserHistory } from './user-history.service.js';
import { DocHistory, type HistoryPageDto } from './user-history.docs.js';
import { UsersService } from './users.service.js';

@ApiTags('users')
@Controller('users/:user_id/history')
export class UserHistoryController {
  constructor(
    private readonly users: UsersService,
    private readonly history: UserHistory,
  ) {}

  @Get()
  @DocHistory()
  @Requires('audit.read')
  @Accepts({ query: Walk })
  async list(
    @Param('user_id') uuid: string,
    @CheckedQuery() query: Walk,
    @CurrentCaller() caller: Caller,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<HistoryPageDto> {
    await this.users.get(uuid, caller);
    const page = await this.history.page(uuid, query.after, limitOf(query));
    const { count, exact, events, nameOf, next } = page;
    if (next !== undefined) response.links({ next: nextPage(request, next) });
    const shown = events.map(({ event, actorName, summary }) => {
      const { target: _, actor, ...rest } = presentEvent(event, nameOf);
      return { ...rest, actor: { kind: actor.kind, id: actor.id, name: actorName }, summary };
    });
    return { Count: count, CountIsExact: exact, Results: shown };
  }
}
