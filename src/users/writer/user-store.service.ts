import { Injectable } from '@nestjs/common';
import type { Caller } from '../../access/actor.js';
import { Changes } from '../../platform/common/changes.js';
import { now } from '../../platform/common/time.js';
import type { AuditAction } from '../../audit/audit-event.js';
import { AuditService } from '../../audit/audit.service.js';
import type { Sql } from '../../platform/database/engine/sql.js';
import { SessionsService } from '../../sessions/sessions.service.js';
import { isActiveWebmaster } from '../rules/user-rules.js';
import { type ValidatedSetChange, type Outcome, type PreparedUser, createdAt } from './change-set.js';
import type { SetConstraint } from '../set-rules/constraint.js';
import { DeletedUsersRepository } from './deleted-users.repository.js';
import { type User, hasSameWords, rolesOf, valueRows, wordRows } from '../model/user.js';
import type { UserRoleEntity, UserValueEntity, UserWordEntity } from '../model/user-lookups.entity.js';
import { endsSessions } from '../rules/user-rules.js';
import { type Counted, UserCounts } from './user-counts.service.js';
import { UserWriteRepository } from './user-write.repository.js';

/** A change that is written: the state that goes into the row, and how it came about. */
interface Written {
  before: User | undefined;
  prepared: PreparedUser | undefined;
  constraint: SetConstraint | undefined;
  /** Of a deleted user: as it was. */
  user: User;
  /** undefined for a deleted user. */
  after: User | undefined;
  outcome: Extract<Outcome, { user: User }>;
}

/** The second half of the writer: rows, look-up tables, counts, sessions and audit of the good changes. */
@Injectable()
export class UserStore {
  constructor(
    private readonly repository: UserWriteRepository,
    private readonly deleted: DeletedUsersRepository,
    private readonly counts: UserCounts,
    private readonly sessions: SessionsService,
    private readonly audit: AuditService,
  ) {}

  /** `changes` and `outcomes` go in pairs; errors and unchanged users cost nothing. */
  async save(
    tx: Sql,
    changes: readonly ValidatedSetChange[],
    outcomes: readonly Outcome[],
    caller: Caller,
  ): Promise<void> {
    const written = outcomes.flatMap((outcome, index): Written[] => {
      if (outcome.outcome === 'error' || outcome.outcome === 'unchanged') return [];
      const { before, prepared, constraint } = changes[index] ?? {};
      const { user } = outcome;
      return [
        {
          before,
          prepared,
          constraint,
          user,
          after: outcome.outcome === 'deleted' ? undefined : user,
          outcome,
        },
      ];
    });
    if (written.length === 0) return;
    const left = await this.remove(tx, written);
    await this.repository.saveUsers(
      tx,
      written.flatMap(({ prepared, user: { created, updated } }) =>
        prepared ? createdAt(prepared.row, created, updated) : [],
      ),
      written.filter(({ prepared, after }) => !prepared && after),
    );
    await this.saveLookups(tx, written);
    await this.endSessions(tx, written, caller);
    await this.audit.record(
      tx,
      caller,
      written.map((each) => toAuditEvent(each, left)),
    );
    await this.counts.add(tx, countDeltas(written));
  }

  /**
   * Moves the rows of users to those of the deleted ones, or away from there. Before rows are made: a report that loses its
   * manager does so here, too. @returns deleted user → the groups that it has left.
   */
  private async remove(
    tx: Sql,
    written: readonly Written[],
  ): Promise<ReadonlyMap<string, readonly string[]>> {
    const named = (wanted: Outcome['outcome']): User[] =>
      written.flatMap(({ outcome, user }) => (outcome.outcome === wanted ? user : []));
    const back = named('restored').map(({ uuid }) => uuid);
    if (back.length > 0) await this.deleted.forget(tx, back);
    const gone = named('deleted');
    if (gone.length === 0) return new Map();
    const time = now();
    await this.deleted.take(tx, gone, time);
    return this.deleted.leaveGroups(
      tx,
      gone.map(({ uuid }) => uuid),
      time,
    );
  }

  private async saveLookups(tx: Sql, written: readonly Written[]): Promise<void> {
    const taken = written.flatMap(({ user, constraint }) =>
      distinct((constraint?.taken ?? []).map(({ identifier }) => identifier)).map((identifier) => ({
        identifier,
        user_uuid: user.uuid,
      })),
    );
    const released = distinct(
      written.flatMap(({ constraint }) => (constraint?.released ?? []).map(({ identifier }) => identifier)),
    );
    await this.repository.moveIdentifiers(tx, released, taken);

    await this.repository.moveRoles(tx, {
      gone: written.flatMap(({ before, after }) => (before ? roleRows(before, after && rolesOf(after)) : [])),
      added: written.flatMap(({ before, after }) =>
        after ? roleRows(after, before && rolesOf(before)) : [],
      ),
    });
    await this.repository.moveWords(tx, wordMoves(written));
    await this.repository.moveValues(tx, valueMoves(written));
  }

  private async endSessions(tx: Sql, written: readonly Written[], caller: Caller): Promise<void> {
    const changed = written.filter(({ before }) => before !== undefined);
    const all = changed.filter(({ before, after }) => before && (!after || endsSessions(before, after)));
    const others = changed.filter(
      (item) => item.before?.password_hash !== item.user.password_hash && !all.includes(item),
    );
    const own = caller.actor.kind === 'user' ? caller.actor.sessionId : undefined;
    const uuids = (list: readonly Written[]): string[] => list.map(({ user }) => user.uuid);
    if (all.length > 0) await this.sessions.endOfUsers(tx, uuids(all));
    if (others.length > 0) await this.sessions.endOfUsers(tx, uuids(others), own);
  }
}

/** Rows for the roles of a user that are not among `others`. */
const roleRows = (user: User, others: readonly string[] = []): UserRoleEntity[] =>
  rolesOf(user)
    .filter((role) => !others.includes(role))
    .map((role) => ({ role, user_uuid: user.uuid }));

/** Only rows that differ are written. */
function wordMoves(written: readonly Written[]) {
  const gone: UserWordEntity[] = [];
  const added: UserWordEntity[] = [];
  const changed: UserWordEntity[] = [];
  for (const { before, prepared, after } of written) {
    if (prepared) added.push(...prepared.words);
    if (!before || (after && hasSameWords(before, after))) continue;
    const old = new Map(wordRows(before).map((row) => [row.word, row]));
    for (const row of after ? wordRows(after) : []) {
      const same = old.get(row.word);
      old.delete(row.word);
      if (same?.weight !== row.weight || same.public_weight !== row.public_weight) changed.push(row);
    }
    gone.push(...old.values());
  }
  return { gone, added, changed };
}

/** Users whose attributes stay cost nothing. */
function valueMoves(written: readonly Written[]) {
  const gone: UserValueEntity[] = [];
  const added: UserValueEntity[] = [];
  for (const { before, prepared, after } of written) {
    if (prepared) added.push(...prepared.values);
    if (!before || before.attributes === after?.attributes) continue;
    const old = new Map(valueRows(before).map((row) => [`${row.attribute} ${row.value_key}`, row]));
    if (after)
      added.push(...valueRows(after).filter((row) => !old.delete(`${row.attribute} ${row.value_key}`)));
    gone.push(...old.values());
  }
  return { gone, added };
}

const distinct = (values: readonly string[]): string[] => [...new Set(values)];

function countDeltas(written: readonly Written[]): Map<Counted, number> {
  const deltas = new Map<Counted, number>();
  const add = (name: Counted, delta: number) => deltas.set(name, (deltas.get(name) ?? 0) + delta);
  for (const { before, after } of written) {
    if (before) add(before.status, -1);
    if (after) add(after.status, 1);
    const is = after !== undefined && isActiveWebmaster(after);
    add('webmasters', Number(is) - Number(before !== undefined && isActiveWebmaster(before)));
  }
  return deltas;
}

/** Groups that the audit row of a deleted user names: those beyond are found by the versions of the groups alone. */
const MOST_GROUPS = 1000;

/** @param left deleted user → the groups that it has left. */
function toAuditEvent({ before, user, outcome }: Written, left: ReadonlyMap<string, readonly string[]>) {
  const groups = left.get(user.uuid)?.slice(0, MOST_GROUPS);
  const changes = groups
    ? Changes.of([...outcome.changes.list, { field: 'groups', old: groups, new: null }])
    : outcome.changes;
  return {
    action: auditAction(outcome.outcome, before, user),
    target: { kind: 'user' as const, id: user.uuid },
    changes,
  };
}

function auditAction(outcome: Outcome['outcome'], before: User | undefined, after: User): AuditAction {
  if (outcome === 'deleted' || outcome === 'restored') return `user.${outcome}`;
  if (!before) return 'user.created';
  if (before.status === after.status) return 'user.updated';
  return after.status === 'Blocked' ? 'user.blocked' : 'user.reactivated';
}
