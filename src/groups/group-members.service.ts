import { Injectable } from '@nestjs/common';
import { setImmediate } from 'node:timers/promises';
import type { Caller } from '../access/actor.js';
import { type FieldError, validationFailed } from '../platform/common/errors.js';
import type { Sql } from '../platform/database/engine/sql.js';
import { UserSettings } from '../users/rules/user-settings.js';
import { UserDirectory } from '../users/search/user-directory.service.js';
import { toProblem } from '../users/rules/failure.js';
import { UserWriter } from '../users/writer/user-writer.service.js';
import { GroupRepository } from './group.repository.js';
import type { Group } from './group.js';
import type { MemberChange } from './member-change.js';

/** Who becomes a member of a group and who ceases to be one, each in the order of uuid. */
export interface MemberMoves {
  come: readonly string[];
  gone: readonly string[];
}

export const NOBODY_MOVES: MemberMoves = { come: [], gone: [] };

/** Members named in one statement: for many more MariaDB might look for no index. */
const AT_ONCE = 500;

/** Members of groups: whatever the size of a group, a change costs what it moves. All runs in the caller's transaction. */
@Injectable()
export class GroupMembers {
  constructor(
    private readonly repository: GroupRepository,
    private readonly directory: UserDirectory,
    private readonly writer: UserWriter,
    private readonly settings: UserSettings,
  ) {}

  /** As `GroupRepository.allMembers`. */
  readonly all: GroupRepository['allMembers'] = (...group) => this.repository.allMembers(...group);

  /** As `GroupRepository.membersOf`. */
  readonly ofGroups: GroupRepository['membersOf'] = (...groups) => this.repository.membersOf(...groups);

  /** As `GroupRepository.groupsOf`. */
  readonly groupsOf: GroupRepository['groupsOf'] = (...users) => this.repository.groupsOf(...users);

  /** As `GroupRepository.hasMoreThan`. */
  readonly hasMoreThan: GroupRepository['hasMoreThan'] = (...group) => this.repository.hasMoreThan(...group);

  /**
   * What a change does to the members that a group has. Who comes is held until the transaction ends. Ids of nobody are
   * left out: ids are made here, so that they will never be anybody's.
   * @throws ProblemError `validation_failed` for ids of groups.
   */
  async moves(tx: Sql, group: string, change: MemberChange): Promise<MemberMoves> {
    const { added, removed, replaces, spared } = change;
    const members = replaces
      ? new Set(await this.repository.allMembers(group, tx))
      : await this.among(tx, group, [...added, ...removed]);
    const wanted = [...added].filter((uuid) => !members.has(uuid) && !spared.has(uuid)).sort();
    const leaving = replaces
      ? [...members].filter((uuid) => !added.has(uuid))
      : [...removed].filter((uuid) => members.has(uuid)).sort();
    const held = await this.hold(tx, wanted);
    await this.assertNoGroups(
      tx,
      wanted.filter((uuid) => !held.has(uuid)),
    );
    return {
      come: wanted.filter((uuid) => held.has(uuid)),
      gone: leaving.filter((uuid) => !spared.has(uuid)),
    };
  }

  /** Moves members, and gives or takes the roles of the group. */
  async apply(tx: Sql, group: Group, { come, gone }: MemberMoves, caller: Caller): Promise<void> {
    for await (const part of inTurns(come)) await this.repository.addMembers(tx, group.uuid, part);
    for await (const part of inTurns(gone)) {
      // Held before their rows go, as the user writer does it: in another order the two would wait for each other.
      if (group.roles.length > 0) await this.directory.hold(tx, part);
      await this.repository.removeMembers(tx, group.uuid, part);
    }
    if (group.roles.length === 0) return;
    for await (const part of inTurns([...come, ...gone])) await this.giveRoles(tx, part, 'members', caller);
  }

  /** Gives all members the roles that the group has now. */
  async settleAll(tx: Sql, group: string, caller: Caller): Promise<void> {
    for (let after: string | undefined = ''; after !== undefined;) {
      const part = await this.repository.members(group, after, AT_ONCE, tx);
      await this.giveRoles(tx, part, 'roles', caller);
      after = part.at(-1);
      await setImmediate(); // as in `inTurns`
    }
  }

  /**
   * Gives users the roles of all their groups, in addition to their own (ADR 25). Users who have them already are not written.
   * @param users some hundreds, whose other groups stay as they are
   * @param field the changed field, for the error: `members` or `roles`
   * @throws ProblemError `validation_failed` naming users who may not hold such roles; errors of the user writer
   */
  private async giveRoles(tx: Sql, users: readonly string[], field: string, caller: Caller): Promise<void> {
    const held = await this.directory.hold(tx, users);
    if (held.length === 0) return;
    const unions = new Map(held.map((user) => [user, new Set<string>()]));
    for (const { user, roles } of await this.repository.rolesByGroups(tx, held))
      for (const role of roles) unions.get(user)?.add(role);
    const changes = [...unions].map(([uuid, roles]) => ({
      kind: 'update' as const,
      uuid,
      patch: { group_roles: this.settings.roles.sort([...roles]) },
    }));
    const outcomes = await this.writer.apply(tx, changes, caller);
    const errors: FieldError[] = [];
    for (const [index, outcome] of outcomes.entries()) {
      if (outcome.outcome !== 'error') continue;
      const broken = outcome.failures.find(({ code }) => code === 'exclusive_roles');
      if (!broken) throw toProblem(outcome.failures);
      const message = `would break a rule of user ${held[index] ?? ''}: ${broken.field} ${broken.message}`;
      errors.push({ field, code: 'exclusive_roles', message });
    }
    if (errors.length > 0) throw validationFailed(errors);
  }

  /** Which of these users are members. */
  async among(tx: Sql, group: string, users: readonly string[]): Promise<Set<string>> {
    const found = new Set<string>();
    for await (const part of inTurns(users))
      for (const uuid of await this.repository.membersAmong(tx, group, part)) found.add(uuid);
    return found;
  }

  private async hold(tx: Sql, users: readonly string[]): Promise<Set<string>> {
    const found = new Set<string>();
    for await (const part of inTurns(users))
      for (const uuid of await this.directory.hold(tx, part)) found.add(uuid);
    return found;
  }

  private async assertNoGroups(tx: Sql, unknown: readonly string[]): Promise<void> {
    for await (const part of inTurns(unknown)) {
      const groups = await this.repository.groupsAmong(tx, part);
      if (groups.length === 0) continue;
      const message = `may not hold groups, as ${groups.slice(0, 5).join(', ')} is`;
      throw validationFailed([{ field: 'members', code: 'invalid_value', message }]);
    }
  }
}

/** @yields the values some hundreds at a time. Between two parts others have their turn: SQLite works in this thread. */
async function* inTurns(values: readonly string[]): AsyncGenerator<readonly string[]> {
  for (let from = 0; from < values.length; from += AT_ONCE) {
    if (from > 0) await setImmediate();
    yield values.slice(from, from + AT_ONCE);
  }
}
