import { afterAll, expect, test } from '@jest/globals';
import { v7 as uuidv7 } from 'uuid';
import { AuditEventEntity } from '../../src/audit/audit.entity.js';
import { Sealer } from '../../src/audit/sealer.service.js';
import { NO_CHANGES } from '../../src/platform/common/field-changes.js';
import { toDbTime } from '../../src/platform/common/time.js';
import { insertRows } from '../../src/platform/database/engine/sql.js';
import { TransactionRunner } from '../../src/platform/database/transaction-runner.js';
import { TestApp } from '../support/app/app.js';
import { measureEffort } from '../support/app/effort.js';
import { check } from '../support/app/scenario.js';
import { DAY, HOUR } from '../support/app/sealed-audit.js';
import { refreshStatistics, seededUuid } from '../support/app/seed.js';

/** Measures the rows that the database reads for `GET /statistics`, with 10,000 and with 30,000 events. */
const FEW = 10_000;
const MANY = 30_000;
/** Number of unsealed events, more than the service reads for one response. */
const UNSEALED = 70_000;
const BATCH_SIZE = 10_000;
const DAYS = 28;
/** Actions of the rows. Half of the rows have the same action, as after an import. */
const ACTIONS = [
  'user.updated',
  'user.updated',
  'user.updated',
  'user.created',
  'user.blocked',
  'session.created',
] as const;

let app: TestApp | undefined;
afterAll(() => app?.end());

/** Inserts events at equal intervals between two times. */
async function insertEvents(app: TestApp, count: number, from: number, until: number): Promise<void> {
  for (let done = 0; done < count; done += BATCH_SIZE) {
    const rows = Array.from({ length: Math.min(BATCH_SIZE, count - done) }, (_, index): AuditEventEntity => {
      const msecs = Math.floor(from + ((until - from) * (done + index)) / count);
      return {
        id: uuidv7({ msecs }),
        time: toDbTime(new Date(msecs)),
        actor_kind: 'system',
        actor_id: null,
        action: ACTIONS[index % ACTIONS.length] ?? 'user.updated',
        target_kind: 'user',
        target_id: seededUuid(index),
        changes: NO_CHANGES.text,
        request_id: 'seed',
        ip: '',
      };
    });
    await app.app.get(TransactionRunner).run((tx) => insertRows(tx, AuditEventEntity, rows));
  }
}

async function measureCost(app: TestApp): Promise<number> {
  await refreshStatistics(app);
  return measureEffort(app, () => check(app.key.get('/statistics?days=30')));
}

const efforts: number[] = [];

test('more sealed events do not make GET /statistics read more rows', async () => {
  for (const events of [FEW, MANY]) {
    await app?.end();
    app = await TestApp.start({ DATABASE_POOL_SIZE: '1' });
    await insertEvents(app, events, Date.now() - DAYS * DAY, Date.now() - 2 * HOUR);
    await app.app.get(Sealer).sealEndedHours();
    efforts.push(await measureCost(app));
  }
  const [few = 0, many = Infinity] = efforts;
  expect(few).toBeGreaterThan(0);
  expect(many).toBeLessThanOrEqual(1.1 * few);
});

test('more unsealed events do not make GET /statistics read more rows', async () => {
  if (!app) throw new Error('the first test has not run');
  const hour = Math.floor(Date.now() / HOUR) * HOUR;
  await insertEvents(app, UNSEALED, hour, Date.now());
  const busy = await measureCost(app);
  await insertEvents(app, UNSEALED / 2, hour, Date.now());
  expect(await measureCost(app)).toBeLessThanOrEqual(1.1 * busy);
});
