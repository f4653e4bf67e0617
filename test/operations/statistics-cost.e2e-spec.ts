import { afterAll, expect, jest, test } from '@jest/globals';
import { v7 as uuidv7 } from 'uuid';
import { AuditEventEntity } from '../../src/audit/audit.entity.js';
import { Sealer } from '../../src/audit/sealer.service.js';
import { NO_CHANGES } from '../../src/platform/common/field-changes.js';
import { toDbTime } from '../../src/platform/common/time.js';
import { insertRows } from '../../src/platform/database/engine/sql.js';
import { TransactionRunner } from '../../src/platform/database/transaction-runner.js';
import { TestApp } from '../support/app/app.js';
import { effortOf } from '../support/app/effort.js';
import { ok } from '../support/app/scenario.js';
import { DAY, HOUR } from '../support/app/sealed-audit.js';
import { refreshStatistics, seededUuid } from '../support/app/seed.js';

/** Measures the rows that the database reads for `GET /statistics`, with ten thousand events and with seven times as many. */
const FEW = 10_000;
const MANY = 70_000;
const AT_ONCE = 10_000;
const DAYS = 28;
/** Half of the rows are of one action, as after an import. */
const ACTIONS = [
  'user.updated',
  'user.updated',
  'user.updated',
  'user.created',
  'user.blocked',
  'session.created',
] as const;

jest.setTimeout(300_000);
let app: TestApp | undefined;
afterAll(() => app?.end());

/** Adds events in even distances from one moment to another. */
async function add(app: TestApp, count: number, from: number, until: number): Promise<void> {
  for (let done = 0; done < count; done += AT_ONCE) {
    const rows = Array.from({ length: Math.min(AT_ONCE, count - done) }, (_, index): AuditEventEntity => {
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

async function cost(app: TestApp): Promise<number> {
  await refreshStatistics(app);
  return effortOf(app, () => ok(app.key.get('/statistics?days=30')));
}

const efforts: number[] = [];

test('the numbers cost the same, however many events are sealed', async () => {
  for (const events of [FEW, MANY]) {
    await app?.end();
    app = await TestApp.start({ DATABASE_POOL_SIZE: '1' });
    await add(app, events, Date.now() - DAYS * DAY, Date.now() - 2 * HOUR);
    await app.app.get(Sealer).run();
    efforts.push(await cost(app));
  }
  const [few = 0, many = Infinity] = efforts;
  expect(few).toBeGreaterThan(0);
  expect(many).toBeLessThanOrEqual(1.1 * few);
});

test('and however many an import at work has written in the hour that is not sealed', async () => {
  if (!app) throw new Error('the first test has not run');
  const hour = Math.floor(Date.now() / HOUR) * HOUR;
  await add(app, MANY, hour, Date.now());
  const busy = await cost(app);
  await add(app, MANY, hour, Date.now());
  expect(await cost(app)).toBeLessThanOrEqual(1.1 * busy);
});
