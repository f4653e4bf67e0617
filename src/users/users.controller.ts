import {
  Body,
  Controller,
  Get,
  Headers,
  HttpCode,
  Param,
  Post,
  Put,
  Req,
  Res,
  UseInterceptors,
} from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import type { Caller } from '../access/actor.js';
import { CurrentCaller, Requires } from '../access/decorators.js';
import { ProblemError } from '../platform/common/errors.js';
import { departureOf } from '../platform/http/stream.js';
import { Accepts, CheckedQuery } from '../platform/http/input.guard.js';
import { type Checked, InputPipe } from '../platform/input/read-input.js';
import { nextPage } from '../platform/http/page.js';
import { ChangedUserInput, NewUserInput } from './rules/user.input.js';
import type { User } from './model/user.js';
import { UserQuery } from './search/user.query.js';
import { UserSearch } from './search/user-search.service.js';
import { UserSettings } from './rules/user-settings.js';
import {
  type UserDto,
  type UserPageDto,
  type UserUuidDto,
  etagOf,
  isNotModified,
  presentUser,
  versionsIn,
  viewFor,
} from './user.view.js';
import { UnknownFields } from './accepted-fields.js';
import { DocChange, DocCreate, DocGet, DocMe, DocSearch } from './users.docs.js';
import { UsersService } from './users.service.js';

@ApiTags('users')
@Controller('users')
export class UsersController {
  constructor(
    private readonly users: UsersService,
    private readonly searcher: UserSearch,
    private readonly settings: UserSettings,
  ) {}

  @Post()
  @DocCreate()
  @Requires('users.create')
  @Accepts({ body: true })
  @UseInterceptors(UnknownFields)
  async create(
    @Body(new InputPipe(NewUserInput)) input: Checked<NewUserInput>,
    @CurrentCaller() caller: Caller,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<UserUuidDto> {
    const uuid = await this.users.create(input, caller);
    response.location(`${request.path.replace(/\/$/, '')}/${uuid}`);
    return { uuid };
  }

  @Get('me')
  @DocMe()
  @Requires('profile.read')
  async me(
    @CurrentCaller() caller: Caller,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<UserDto | undefined> {
    if (caller.actor.kind !== 'user') throw new ProblemError('not_found', 'An API key is not a user.');
    return this.reply(await this.users.get(caller.actor.id, caller), caller, request, response);
  }

  @Get('search')
  @DocSearch()
  @Requires('users.search')
  @Accepts({ query: UserQuery })
  async search(
    @CheckedQuery() query: UserQuery,
    @CurrentCaller() caller: Caller,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<UserPageDto> {
    const { count, users, next } = await this.searcher.search(query, caller.actor, () =>
      departureOf(response),
    );
    if (next) response.links({ next: nextPage(request, next) });
    return { Count: count, Results: users.map((user) => this.present(user, caller)) };
  }

  @Get(':user_id')
  @DocGet()
  @Requires('users.read', 'profile.read')
  async get(
    @Param('user_id') uuid: string,
    @CurrentCaller() caller: Caller,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<UserDto | undefined> {
    return this.reply(await this.users.get(uuid, caller), caller, request, response);
  }

  @Put(':user_id')
  @DocChange()
  @HttpCode(200)
  @Requires('users.update', 'profile.update')
  @Accepts({ body: true })
  @UseInterceptors(UnknownFields)
  async change(
    @Param('user_id') uuid: string,
    @Body(new InputPipe(ChangedUserInput)) input: Checked<ChangedUserInput>,
    @Headers('if-match') ifMatch: string | undefined,
    @CurrentCaller() caller: Caller,
    @Res({ passthrough: true }) response: Response,
  ): Promise<UserDto> {
    const user = await this.users.change(uuid, input, caller, versionsIn(ifMatch));
    response.setHeader('ETag', etagOf(user, viewFor(caller.actor, uuid)));
    return this.present(user, caller);
  }

  private present(user: User, { actor }: Caller): UserDto {
    return presentUser(user, viewFor(actor, user.uuid), this.settings.defaultAvatar);
  }

  /** The user, or 304 without a body when the client has it already. */
  private reply(user: User, caller: Caller, request: Request, response: Response): UserDto | undefined {
    const etag = etagOf(user, viewFor(caller.actor, user.uuid));
    response.setHeader('ETag', etag);
    if (!isNotModified(request.get('if-none-match'), etag)) return this.present(user, caller);
    response.status(304);
    return undefined;
  }
}
