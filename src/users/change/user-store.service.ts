import { Injectable } from '@nestjs/common';
import type { Caller } from '../../access/actor.js';
import type { AuditAction } from '../../audit/audit-event.js';
import { AuditService } from '../../audit/audit.service.js';
import type { Sql } from '../../database/engine/sql.js';
import { SessionsService } from '../../sessions/sessions.service.js';
import { isActiveWebmaster } from '../input/user-rules.js';
import type { JudgedChange, Outcome } from './change-set.js';
import type { Claim } from './claim.js';
import { type PreparedUser, createdAt } from './prepared-user.js';
import { type User, rolesOf } from '../model/user.js';
import type { UserRoleEntity, UserValueEntity, UserWordEntity } from '../model/user-lookups.entity.js';
import { endsSessions } from '../input/user-rules.js';
import { valueRows } from '../model/values.js';
import { hasSameWords, wordRows } from '../model/words.js';
import { type Counted } from '../counts/user-counts.repository.js';
import { UserCounts } from '../counts/user-counts.service.js';
import { UserWriteRepository } from './user-write.repository.js';

/** A change that is written: the state that goes into the row, and how it came about. */
interface Written {
  before: User | undefined;
  prepared: PreparedUser | undefined;
  claim: Claim | undefined;
  user: User;
  outcome: Extract<Outcome, { user: User }>;
}

/** The second half of the writer: rows, look-up tables, counts, sessions and audit of the good changes. */
@Injectable()
export class UserStore {
  constructor(
    private readonly repository: UserWriteRepository,
    private readonly counts: UserCounts,
    private readonly sessions: SessionsService,
    private readonly audit: AuditService,
  ) {}

  /** `changes` and `outcomes` go in pairs; errors and unchanged users cost nothing. */
  async save(
    tx: Sql,
    changes: readonly JudgedChange[],
    outcomes: readonly Outcome[],
    caller: Caller,
  ): Promise<void> {
    const written = outcomes.flatMap((outcome, index): Written[] => {
      if (outcome.outcome === 'error' || outcome.outcome === 'unchanged') return [];
      const { before, prepared, claim } = changes[index] ?? {};
      return [{ before, prepared, claim, user: outcome.user, outcome }];
    });
    if (written.length === 0) return;
    await this.repository.saveUsers(
      tx,
      written.flatMap(({ prepared, user }) => (prepared ? createdAt(prepared.row, user.created) : [])),
      written.filter(({ prepared }) => !prepared),
    );
    await this.saveLookups(tx, written);
    await this.endSessions(tx, written, caller);
    await this.audit.record(tx, caller, written.map(toAuditEvent));
    await this.counts.add(tx, countDeltas(written));
  }

  private async saveLookups(tx: Sql, written: readonly Written[]): Promise<void> {
    const taken = written.flatMap(({ user, claim }) =>
      distinct((claim?.taken ?? []).map(({ identifier }) => identifier)).map((identifier) => ({
        identifier,
        user_uuid: user.uuid,
      })),
    );
    const released = distinct(
      written.flatMap(({ claim }) => (claim?.released ?? []).map(({ identifier }) => identifier)),
    );
    await this.repository.moveIdentifiers(tx, released, taken);

    await this.repository.moveRoles(tx, {
      gone: written.flatMap(({ before, user }) => (before ? roleRows(before, rolesOf(user)) : [])),
      added: written.flatMap(({ before, user }) => roleRows(user, before && rolesOf(before))),
    });
    await this.repository.moveWords(tx, wordMoves(written));
    await this.repository.moveValues(tx, valueMoves(written));
  }

  private async endSessions(tx: Sql, written: readonly Written[], caller: Caller): Promise<void> {
    const changed = written.filter(({ before }) => before !== undefined);
    const all = changed.filter(({ before, user }) => before && endsSessions(before, user));
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
  for (const { before, prepared, user } of written) {
    if (prepared) added.push(...prepared.words);
    if (!before || hasSameWords(before, user)) continue;
    const old = new Map(wordRows(before).map((row) => [row.word, row]));
    for (const row of wordRows(user)) {
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
  for (const { before, prepared, user } of written) {
    if (prepared) added.push(...prepared.values);
    if (!before || before.attributes === user.attributes) continue;
    const old = new Map(valueRows(before).map((row) => [`${row.attribute} ${row.value_key}`, row]));
    added.push(...valueRows(user).filter((row) => !old.delete(`${row.attribute} ${row.value_key}`)));
    gone.push(...old.values());
  }
  return { gone, added };
}

const distinct = (values: readonly string[]): string[] => [...new Set(values)];

function countDeltas(written: readonly Written[]): Map<Counted, number> {
  const deltas = new Map<Counted, number>();
  const add = (name: Counted, delta: number) => deltas.set(name, (deltas.get(name) ?? 0) + delta);
  for (const { before, user } of written) {
    if (before) add(before.status, -1);
    add(user.status, 1);
    add(
      'webmasters',
      Number(isActiveWebmaster(user)) - Number(before !== undefined && isActiveWebmaster(before)),
    );
  }
  return deltas;
}

function toAuditEvent({ before, user, outcome }: Written) {
  return {
    action: auditAction(before, user),
    target: { kind: 'user' as const, id: user.uuid },
    changes: outcome.changes,
  };
}

function auditAction(before: User | undefined, after: User): AuditAction {
  if (!before) return 'user.created';
  if (before.status === after.status) return 'user.updated';
  return after.status === 'Blocked' ? 'user.blocked' : 'user.reactivated';
}
