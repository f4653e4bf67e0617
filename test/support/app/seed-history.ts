import { NO_CHANGES } from '../../../src/platform/common/field-changes.js';
import { toJson } from '../../../src/platform/common/json.js';
import { v7 as uuidv7 } from 'uuid';
import { AuditEventEntity } from '../../../src/audit/audit.entity.js';
import { now, addSeconds, toMillis } from '../../../src/platform/common/time.js';
import { type Sql, insertRows } from '../../../src/platform/database/engine/sql.js';
import { TransactionRunner } from '../../../src/platform/database/transaction-runner.js';
import {
  ImportFilePartEntity,
  ImportRowEntity,
  ImportRunEntity,
} from '../../../src/import/runs/import.entity.js';
import { ImportOptions } from '../../../src/import/runs/import-options.js';
import { toEntity } from '../../../src/import/runs/import-rows.repository.js';
import { createRun, toRunRow } from '../../../src/import/runs/import-run.js';
import { LoginFailureEntity } from '../../../src/sessions/login.entity.js';
import { SessionEntity } from '../../../src/sessions/session.entity.js';
import { IdempotencyEntity } from '../../../src/idempotency/idempotency.entity.js';
import type { TestApp } from './app.js';
import { sha256 } from './people.js';
import { timeOf } from '../../../src/platform/common/uuid.js';
import { seededUuid } from './seed.js';

/** Actor of half of the seeded audit rows. */
export const BUSY_ACTOR = '0198f3a2-5d1c-7c4e-9a51-3f2b8c6d7e10';
/** A completed import with as many rows as each table of the history. */
export const BIG_RUN = '0198f3a2-5d1c-7c4e-9a51-3f2b8c6d7e11';

/** User who started the import of half of the seeded audit rows. */
export const BUSY_RUNNER = '0198f3a2-5d1c-7c4e-9a51-3f2b8c6d7e12';

const EXPIRED = 10;
const RUNS = 300;
const HOUR = 3600;
const DAY = 24 * HOUR;
const millisOf = (time: string, index: number) => ({ msecs: toMillis(time) + index });
const SYSTEM = { actor: { kind: 'system', id: null }, requestId: 'seed', ip: '' } as const;

/** Inserts `count` rows into every table that grows with time. The first ten rows of each table are expired. */
export async function seedHistory({ app }: TestApp, count: number): Promise<void> {
  await app.get(TransactionRunner).run(async (tx) => {
    await insertRows(tx, AuditEventEntity, buildList(count, anAuditEvent));
    await insertRows(tx, SessionEntity, buildList(count, aSession));
    await insertRows(tx, LoginFailureEntity, buildList(count, aLoginFailure));
    await insertRows(tx, IdempotencyEntity, buildList(count, anIdempotentRequest));
    await insertRuns(tx, count);
    await insertRows(tx, AuditEventEntity, buildList(RUNS, aRunStart));
  });
}

export const buildList = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));
const toPastTime = (index: number, seconds: number): string =>
  addSeconds(now(), index < EXPIRED ? -1000 * DAY : -seconds);

function anAuditEvent(index: number): AuditEventEntity {
  const id = uuidv7(millisOf(toPastTime(index, HOUR), index));
  return {
    id,
    time: timeOf(id),
    actor_kind: index % 2 ? 'key' : 'import',
    actor_id: index % 2 ? BUSY_ACTOR : BIG_RUN,
    action: index % 3 ? 'user.updated' : 'user.created',
    target_kind: 'user',
    target_id: seededUuid(index),
    changes: toJson([{ field: 'phone', old: '', new: '1' }]),
    request_id: 'seed',
    ip: '',
  };
}

function aSession(index: number): SessionEntity {
  const expires = addSeconds(now(), index < EXPIRED ? -HOUR : HOUR);
  return {
    id: uuidv7(),
    token_hash: sha256(`session ${index}`),
    user_uuid: seededUuid(index),
    created: toPastTime(index, HOUR),
    expires,
    absolute_expires: expires,
    ip: '',
    confirmed: null,
  };
}

/** Builds the audit event of the start of a run by one user. Index 0 is the big run. */
const aRunStart = (index: number): AuditEventEntity =>
  Object.assign(anAuditEvent(index + EXPIRED), {
    actor_kind: 'user',
    actor_id: BUSY_RUNNER,
    action: 'import.created',
    target_kind: 'import',
    target_id: index === 0 ? BIG_RUN : uuidv7(),
    changes: toJson([]),
  });

const aLoginFailure = (index: number): LoginFailureEntity => ({
  scope: sha256(`scope ${index}`),
  failures: 1,
  window_ends: addSeconds(now(), index < EXPIRED ? -HOUR : HOUR),
});

const anIdempotentRequest = (index: number): IdempotencyEntity => ({
  id: sha256(`request ${index}`),
  request_mac: sha256('body'),
  answer: 'sealed',
  created: toPastTime(index, HOUR),
});

async function insertRuns(tx: Sql, count: number): Promise<void> {
  const ids = [BIG_RUN, ...buildList(RUNS, (index) => uuidv7(millisOf(toPastTime(index, HOUR), index)))];
  const runs = ids.map((id, index) => {
    const run = createRun({ runId: id, name: 'x', size: 1, sha256: sha256('') }, new ImportOptions(), SYSTEM);
    return toRunRow({ ...run, state: 'completed', finished: toPastTime(index - 1, HOUR) });
  });
  await insertRows(tx, ImportRunEntity, runs);
  const outcomes = ['error', 'missing', 'created', 'updated'] as const;
  const rows = buildList(count, (index) => {
    const row = toEntity(BIG_RUN, {
      line: index + 2,
      manager: null,
      outcome: outcomes[index % outcomes.length] ?? 'error',
      external_id: `HR-${index}`,
      user_uuid: seededUuid(index),
      version: 0,
      batch: Math.floor(index / 500),
      changes: NO_CHANGES,
      errors: index % 2 ? [] : [{ field: 'email', code: 'invalid_format', message: 'x' }],
    });
    return Object.assign(row, { cells: toJson(['x']) });
  });
  await insertRows(tx, ImportRowEntity, rows);
  const parts = ids.map((run_id) => ({ run_id, part: 0, bytes: '' }));
  await insertRows(tx, ImportFilePartEntity, parts);
}
