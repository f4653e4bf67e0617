import { Body, Delete, Get, Headers, HttpCode, Param, Post, Put, Res, UseInterceptors } from '@nestjs/common';
import type { Response } from 'express';
import type { Caller } from '../access/actor.js';
import { CurrentCaller, Requires } from '../access/decorators.js';
import { ProblemError, createValidationError } from '../platform/common/errors.js';
import { EntityTags, applyETag } from '../platform/http/entity-tags.js';
import { abortOnDisconnect } from '../platform/http/stream.js';
import { Accepts, CheckedQuery } from '../platform/http/input.guard.js';
import { type CheckedInput, InputPipe } from '../platform/input/read-input.js';
import { buildNextPageUrl, toPageRange } from '../platform/http/page.js';
import { ETAG, CASE_INSENSITIVE, NEXT_PAGE_LINK } from '../platform/openapi/shared-schemas.js';
import { ApiController, DescribeRoute, describeJson } from '../platform/openapi/route-docs.js';
import { ChangedUserInput, NewUserInput, PasswordOptionsInput } from './rules/user.input.js';
import { TAKEN_CODES } from './rules/failure.js';
import type { User } from './model/user.js';
import { UserQuery } from './search/user.query.js';
import { UserSearch } from './search/user-search.service.js';
import { UserSettings } from './rules/user-settings.js';
import {
  DeletedPageDto,
  DeletedQuery,
  GeneratedPasswordDto,
  UserDto,
  UserPageDto,
  UserUuidDto,
  USER_ETAG,
  userEtagOf,
  presentDeleted,
  presentUser,
  getView,
} from './user.view.js';
import { IGNORED_HEADER, UnknownFieldsInterceptor } from './accepted-fields.js';
import { DeletedUsers } from './deleted-users.service.js';
import { UsersService } from './users.service.js';

@ApiController('users', 'users')
export class UsersController {
  constructor(
    private readonly users: UsersService,
    private readonly searcher: UserSearch,
    private readonly deleted: DeletedUsers,
    private readonly settings: UserSettings,
    private readonly tags: EntityTags,
  ) {}

  @Post()
  @DescribeRoute('createUser', 'Create a user', {
    description: 'The username, the email, the external id and each authname must be unique among all users.',
    body: NewUserInput,
    examples: {
      minimal: { username: 'jane.doe', email: 'jane.doe@example.org' },
      provisioned: {
        username: 'sam.lee',
        email: 'sam.lee@example.org',
        external_id: 'HR-10042',
        firstname: 'Sam',
        surname: 'Lee',
        roles: ['Organisational user', 'Editor'],
        phone: '+44 20 7946 0958',
        authname: { saml: ['sam.lee@idp.example.org'] },
      },
    },
    answer: describeJson('The user was created.', UserUuidDto, IGNORED_HEADER),
    errors: [...TAKEN_CODES, 'reauthentication_required'],
  })
  @Requires('users.create')
  @Accepts({ body: true })
  @UseInterceptors(UnknownFieldsInterceptor)
  async create(
    @Body(new InputPipe(NewUserInput)) input: CheckedInput<NewUserInput>,
    @CurrentCaller() caller: Caller,
    @Res({ passthrough: true }) response: Response,
  ): Promise<UserUuidDto> {
    const uuid = await this.users.create(input, caller);
    response.location(`${response.req.path.replace(/\/$/, '')}/${uuid}`);
    return { uuid };
  }

  @Get('me')
  @DescribeRoute('getCurrentUser', 'Get the logged-in user', {
    description: 'Returns 404 for an API key, because an API key is not a user.',
    ifNoneMatch: 'ETag of the response that the client already has.',
    answer: describeJson('The user.', UserDto, ETAG),
    errors: ['not_found'],
  })
  @Requires('profile.read')
  async getCurrent(
    @CurrentCaller() caller: Caller,
    @Res({ passthrough: true }) response: Response,
  ): Promise<UserDto | undefined> {
    if (caller.actor.kind !== 'user') throw new ProblemError('not_found', 'An API key is not a user.');
    return this.reply(await this.users.get(caller.actor.id, caller), caller, response);
  }

  @Get('search')
  @DescribeRoute('searchUsers', 'Search users', {
    description:
      'Returns users that match all conditions. The `Link: rel="next"` header points to the next page. Later pages take no ' +
      'longer than the first. Users without the role Webmaster find active users only.',
    answer: describeJson('A page of users and the total number of matches.', UserPageDto, NEXT_PAGE_LINK),
    errors: ['search_too_broad'],
  })
  @Requires('users.search')
  @Accepts({ query: UserQuery })
  async search(
    @CheckedQuery() query: UserQuery,
    @CurrentCaller() caller: Caller,
    @Res({ passthrough: true }) response: Response,
  ): Promise<UserPageDto> {
    const { count, users, next } = await this.searcher.search(query, caller.actor, () =>
      abortOnDisconnect(response),
    );
    if (next) response.links({ next: buildNextPageUrl(response.req, next) });
    return { Count: count, Results: users.map((user) => this.present(user, caller)) };
  }

  @Get('deleted')
  @DescribeRoute('listDeletedUsers', 'List deleted users in the order of deletion', {
    description:
      'Deleted users can be restored with `POST /users/{user_id}/restore` for SCIM_DELETED_DAYS days. After that, their data is removed. ' +
      '`deleted_by` and `reason` come from the audit.',
    answer: describeJson('A page of deleted users.', DeletedPageDto),
    errors: ['search_too_broad'],
  })
  @Requires('users.deleted')
  @Accepts({ query: DeletedQuery })
  async listDeleted(
    @CheckedQuery() query: DeletedQuery,
    @CurrentCaller() caller: Caller,
    @Res({ passthrough: true }) response: Response,
  ): Promise<DeletedPageDto> {
    const { count, users } = await this.deleted.list(query, toPageRange(query), caller, () =>
      abortOnDisconnect(response),
    );
    return { Count: count, Results: users.map((user) => presentDeleted(user, this.settings.defaultAvatar)) };
  }

  @Get(':user_id')
  @DescribeRoute('getUser', 'Get a user', {
    description: 'Returns a user, but only with the fields that the caller may see.',
    id: CASE_INSENSITIVE,
    ifNoneMatch: 'ETag of the response that the client already has.',
    answer: describeJson('The user, with the fields that the caller may see.', UserDto, ETAG),
  })
  @Requires('users.read', 'profile.read')
  async get(
    @Param('user_id') uuid: string,
    @CurrentCaller() caller: Caller,
    @Res({ passthrough: true }) response: Response,
  ): Promise<UserDto | undefined> {
    return this.reply(await this.users.get(uuid, caller), caller, response);
  }

  @Put(':user_id')
  @DescribeRoute('updateUser', 'Change a user', {
    description:
      'Changes only the fields in the body. Null or an empty string, list or object clears an optional field. ' +
      'If one field is invalid, nothing is changed. The response of GET is accepted as the body.',
    id: CASE_INSENSITIVE,
    ifMatch: 'Last ETag that the client read. The request fails with 412 if the user has changed since.',
    body: ChangedUserInput,
    examples: {
      phone: { phone: '+44 20 7946 0999' },
      block: { status: 'Blocked' },
      clear: { about_me: '', social_media: {} },
    },
    answer: describeJson('The user after the change.', UserDto, { ...ETAG, ...IGNORED_HEADER }),
    errors: [
      'field_not_permitted',
      'self_block',
      ...TAKEN_CODES,
      'last_webmaster',
      'login_throttled',
      'reauthentication_required',
      'fuse_blown',
    ],
  })
  @Requires('users.update', 'profile.update')
  @Accepts({ body: true })
  @UseInterceptors(UnknownFieldsInterceptor)
  async change(
    @Param('user_id') uuid: string,
    @Body(new InputPipe(ChangedUserInput)) input: CheckedInput<ChangedUserInput>,
    @Headers('if-match') ifMatch: string | undefined,
    @CurrentCaller() caller: Caller,
    @Res({ passthrough: true }) response: Response,
  ): Promise<UserDto> {
    const user = await this.users.change(uuid, input, caller, this.tags.parseIfMatch(ifMatch, USER_ETAG));
    response.setHeader('ETag', userEtagOf(user, getView(caller.actor, uuid), this.tags));
    return this.present(user, caller);
  }

  @Delete(':user_id')
  @DescribeRoute('deleteUser', 'Delete a user', {
    description:
      'Ends the sessions of the user, and moves the user to the deleted users. `POST /users/{user_id}/restore` restores the user for SCIM_DELETED_DAYS days.',
    id: CASE_INSENSITIVE,
    ifMatch: 'Last ETag that the client read. The request fails with 412 if the user has changed since.',
    answer: 'The user was deleted.',
    errors: ['self_block', 'last_webmaster', 'fuse_blown'],
  })
  @HttpCode(204)
  @Requires('users.update')
  async delete(
    @Param('user_id') uuid: string,
    @Headers('if-match') ifMatch: string | undefined,
    @CurrentCaller() caller: Caller,
  ): Promise<void> {
    await this.users.delete(uuid, caller, this.tags.parseIfMatch(ifMatch, USER_ETAG));
  }

  @Post(':user_id/restore')
  @DescribeRoute('restoreUser', 'Restore a deleted user', {
    description:
      'Restores a user within SCIM_DELETED_DAYS days after the deletion, with the same uuid, the password and all roles that ' +
      'do not come from groups. The groups, sessions and direct reports are not restored. If another user now has the username, email, external id or an ' +
      'authname, the request fails with 409 and the uuid of that user.',
    id: CASE_INSENSITIVE,
    answer: describeJson('The restored user.', UserDto),
    errors: [...TAKEN_CODES, 'reauthentication_required'],
  })
  @HttpCode(200)
  @Requires('users.create')
  async restore(@Param('user_id') uuid: string, @CurrentCaller() caller: Caller): Promise<UserDto> {
    const user = await this.deleted.restore(uuid, caller);
    return this.present(user, caller);
  }

  @Post(':user_id/password')
  @DescribeRoute('generatePassword', 'Generate a password for a user', {
    description:
      'Sets a random password and ends the sessions of the user. Only this response contains the password. With `must_change`, the next session must replace it: ' +
      'until then, requests other than `GET /users/me`, a change of your own password and `POST /sessions/logout` fail with 403 `password_change_required`.',
    id: CASE_INSENSITIVE,
    body: PasswordOptionsInput,
    examples: { temporary: {}, permanent: { must_change: false } },
    answer: describeJson('The new password.', GeneratedPasswordDto),
    errors: ['reauthentication_required'],
  })
  @HttpCode(200)
  @Requires('users.update')
  @Accepts({ body: true })
  async generatePassword(
    @Param('user_id') uuid: string,
    @Body(new InputPipe(PasswordOptionsInput)) { value, errors }: CheckedInput<PasswordOptionsInput>,
    @CurrentCaller() caller: Caller,
  ): Promise<GeneratedPasswordDto> {
    if (errors.length > 0) throw createValidationError(errors);
    return { password: await this.users.generatePassword(uuid, value.must_change ?? true, caller) };
  }

  private present(user: User, { actor }: Caller): UserDto {
    return presentUser(user, getView(actor, user.uuid), this.settings.defaultAvatar);
  }

  private reply(user: User, caller: Caller, response: Response): UserDto | undefined {
    const etag = userEtagOf(user, getView(caller.actor, user.uuid), this.tags);
    return applyETag(response, etag) ? this.present(user, caller) : undefined;
  }
}
