import { Inject, Injectable } from '@nestjs/common';
import { setImmediate } from 'node:timers/promises';
import { DATABASE, type Database } from '../../platform/database/engine/database.js';
import type { Sql } from '../../platform/database/engine/sql.js';
import { type Managed, type ManagedCount, UserDirectoryRepository } from './user-directory.repository.js';
import type { UserScope } from './user-scope.js';
import type { Owner } from '../set-rules/identifier-changes.js';
import { UserWriteRepository } from '../writer/user-write.repository.js';
import { UserCounts } from '../writer/user-counts.service.js';
import { exactKey } from '../model/keys.js';
import type { User } from '../model/user.js';

export type { Managed, Owner };

const COUNTED_AT_ONCE = 2000;

/** Users by the hundred, for imports and exports. A method costs one statement, whatever it is asked for; a count some. */
@Injectable()
export class UserDirectory {
  constructor(
    private readonly repository: UserDirectoryRepository,
    private readonly writes: UserWriteRepository,
    private readonly counts: UserCounts,
    @Inject(DATABASE) private readonly database: Database,
  ) {}

  /** External id in its key form → user. */
  async byExternalIds(externalIds: readonly string[]): Promise<Map<string, User>> {
    const users = await this.repository.users('external_id_key', keysOf(externalIds));
    return new Map(users.map((user) => [exactKey(user.external_id), user]));
  }

  /** External id in its key form → uuid. */
  async uuidsByExternalIds(externalIds: readonly string[]): Promise<Map<string, string>> {
    const users = await this.repository.ids('external_id_key', keysOf(externalIds));
    return new Map(users.map((user) => [exactKey(user.external_id), user.uuid]));
  }

  async externalIdsOf(uuids: readonly string[]): Promise<Map<string, string>> {
    const users = await this.repository.ids('uuid', [...new Set(uuids)]);
    return new Map(users.map((user) => [user.uuid, user.external_id]));
  }

  async byUuids(uuids: readonly string[]): Promise<Map<string, User>> {
    const users = await this.repository.users('uuid', [...new Set(uuids)]);
    return new Map(users.map((user) => [user.uuid, user]));
  }

  /** Webmasters without external id, of whom some keys learn nothing. */
  async operators(sql: Sql = this.database): Promise<Set<string>> {
    return new Set(await this.repository.operators(sql));
  }

  /** Which of these users there are; nobody changes or deletes them until the transaction ends. */
  async hold(tx: Sql, uuids: readonly string[]): Promise<string[]> {
    return this.repository.hold(tx, uuids);
  }

  /** Identifier (`model/keys.ts`) → who has it. */
  async owners(identifiers: readonly string[]): Promise<Map<string, Owner>> {
    return this.writes.owners(this.database, identifiers);
  }

  /** The users and everybody above them, each with its manager. */
  async managersAbove(uuids: readonly string[]): Promise<Map<string, string | null>> {
    return this.writes.managersAbove(this.database, uuids);
  }

  /** How many active users there are. */
  async countActive(): Promise<number> {
    return this.counts.active();
  }

  /** How many active Webmasters there are. */
  async countWebmasters(): Promise<number> {
    return this.counts.webmasters();
  }

  /** Part ('' for none) → how many users of a data set are to be reported where its file lacks them: active ones, Webmasters aside. */
  async countManaged(dataset: string): Promise<Map<string, number>> {
    const counts = new Map<string, number>();
    for (let after: string | undefined = ''; after !== undefined;) {
      const page: ManagedCount[] = await this.repository.countManaged(dataset, after, COUNTED_AT_ONCE);
      for (const { part, count } of page) counts.set(part, (counts.get(part) ?? 0) + count);
      after = page
        .map(({ last }) => last)
        .sort()
        .at(-1);
      await setImmediate(); // SQLite counts in this thread
    }
    return counts;
  }

  /** Users of the whole data set, whatever their part. */
  async managed(scope: UserScope, after: string, limit: number): Promise<Managed[]> {
    return this.repository.managed(scope, after, limit);
  }

  /** Users in the order of their uuids. @param all also those without an external id. */
  async page(after: string, limit: number, all: boolean): Promise<User[]> {
    return this.repository.page(after, limit, all);
  }

  /** Users that no data set manages, or another part of this one, are in this scope from now on; nothing that a reader sees changes. */
  async claim(tx: Sql, uuids: readonly string[], scope: UserScope): Promise<void> {
    if (uuids.length > 0) await this.repository.claim(tx, uuids, scope);
  }
}

const keysOf = (externalIds: readonly string[]): string[] => [...new Set(externalIds.map(exactKey))];
