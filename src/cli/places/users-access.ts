import type { INestApplicationContext } from '@nestjs/common';
import type { Caller } from '../../access/actor.js';
import type { JsonObject } from '../../platform/common/json.js';
import { isUuid } from '../../platform/common/uuid.js';
import { toIso } from '../../platform/common/time.js';
import { Env } from '../../platform/config/env.js';
import { readInput } from '../../platform/input/read-input.js';
import { page } from '../../platform/http/page.js';
import { type DeletedPageDto, type DeletedQuery, presentDeleted } from '../../users/deleted-users.docs.js';
import { DeletedUsers } from '../../users/deleted-users.service.js';
import { ChangedUserInput } from '../../users/rules/user.input.js';
import { UserSettings } from '../../users/rules/user-settings.js';
import type { User } from '../../users/model/user.js';
import type { UserQuery } from '../../users/search/user.query.js';
import { UserSearch } from '../../users/search/user-search.service.js';
import { type UserDto, presentUser, viewFor } from '../../users/user.view.js';
import { UsersService } from '../../users/users.service.js';
import type { Access } from './place.js';
import type { RemoteService } from './remote-service.js';

/** A page of users, and the cursor of the next one, where there is one. */
interface FoundUsers {
  Count: number;
  Results: UserDto[];
  next: string | undefined;
}

/** The users of a database, or those of a service: the same rules at both. */
export interface UsersAccess {
  /** Characters of a new password at the least, as far as it is known. */
  readonly passwordLength: number;
  search(query: UserQuery): Promise<FoundUsers>;
  get(uuid: string): Promise<UserDto>;
  /** @returns the user afterwards. @throws ProblemError or Error with the reason. */
  change(uuid: string, fields: JsonObject): Promise<UserDto>;
  /** Users that were deleted and can be taken back, in the order of their deletion. */
  deleted(query: DeletedQuery): Promise<DeletedPageDto>;
  /** Takes back a deleted user. @throws ProblemError or Error with the reason. */
  restore(uuid: string): Promise<UserDto>;
}

/** The users of the database, by the services of the application. */
class LocalUsers implements UsersAccess {
  readonly passwordLength: number;
  private readonly users: UsersService;

  constructor(
    private readonly context: INestApplicationContext,
    private readonly caller: Caller,
  ) {
    this.users = context.get(UsersService);
    this.passwordLength = context.get(Env).PASSWORD_MIN_LENGTH;
  }

  async search(query: UserQuery): Promise<FoundUsers> {
    const search = this.context.get(UserSearch);
    const { count, users, next } = await search.search(
      query,
      this.caller.actor,
      () => new AbortController().signal,
    );
    return { Count: count, Results: users.map((user) => this.present(user)), next };
  }

  async get(uuid: string): Promise<UserDto> {
    return this.present(await this.users.get(uuid, this.caller));
  }

  async change(uuid: string, fields: JsonObject): Promise<UserDto> {
    return this.present(await this.users.change(uuid, readInput(ChangedUserInput, fields), this.caller));
  }

  async deleted(query: DeletedQuery): Promise<DeletedPageDto> {
    const { count, users } = await this.context.get(DeletedUsers).list(query.since, page(query));
    return { Count: count, Results: users.map(presentDeleted) };
  }

  async restore(uuid: string): Promise<UserDto> {
    return this.present(await this.context.get(DeletedUsers).restore(uuid, this.caller));
  }

  private present(user: User): UserDto {
    return presentUser(
      user,
      viewFor(this.caller.actor, user.uuid),
      this.context.get(UserSettings).defaultAvatar,
    );
  }
}

/** The users of a running service. */
class RemoteUsers implements UsersAccess {
  /** It is a setting of the service. */
  readonly passwordLength = 0;

  constructor(private readonly service: RemoteService) {}

  async search(query: UserQuery): Promise<FoundUsers> {
    const answer = await this.service.send('GET', 'users/search', { query });
    return { ...((await answer.json()) as Omit<FoundUsers, 'next'>), next: this.service.nextOf(answer) };
  }

  async get(uuid: string): Promise<UserDto> {
    return this.service.json('GET', `users/${uuid}`);
  }

  async change(uuid: string, fields: JsonObject): Promise<UserDto> {
    return this.service.json('PUT', `users/${uuid}`, { body: fields });
  }

  async deleted({ since, ...page }: DeletedQuery): Promise<DeletedPageDto> {
    return this.service.json('GET', 'users/deleted', { query: { ...page, since: since && toIso(since) } });
  }

  async restore(uuid: string): Promise<UserDto> {
    return this.service.json('POST', `users/${uuid}/restore`);
  }
}

/** The users at either place. */
export const USERS: Access<UsersAccess> = {
  local: (context, caller) => new LocalUsers(context, caller),
  remote: (service) => new RemoteUsers(service),
};

const NAMES = ['username', 'email', 'external_id'] as const;

/** The one user that a uuid, username, e-mail address or external id names. @throws Error for nobody, or for several. */
export async function userNamed(users: UsersAccess, name: string): Promise<UserDto> {
  const found = new Map<string, UserDto>();
  // An external id may look like a uuid: a user who has it as uuid goes before.
  const byUuid = isUuid(name)
    ? await users.get(name.toLowerCase()).catch((error: unknown) => asError(error))
    : undefined;
  if (byUuid && !(byUuid instanceof Error)) return byUuid;
  for (const field of NAMES)
    for (const user of (await users.search({ [field]: name })).Results) found.set(user.uuid, user);
  const [user, ...others] = found.values();
  if (!user && byUuid) throw byUuid;
  if (!user) throw new Error(`No user has the uuid, username, e-mail address or external id "${name}".`);
  if (others.length > 0)
    throw new Error(`Several users have "${name}": ${[...found.keys()].join(', ')}. Name one by its uuid.`);
  return user;
}

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));
