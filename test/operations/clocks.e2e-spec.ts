import { afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { v7 as uuidv7 } from 'uuid';
import { Leases } from '../../src/platform/database/leases/leases.service.js';
import { PurgeService } from '../../src/operations/start/purge.service.js';
import { setUpApp } from '../support/app/app.js';
import type { Client } from '../support/app/client.js';
import { aKey } from '../support/app/credentials.js';
import { runImport } from '../support/app/imports.js';
import { PASSWORD, aPerson, databaseOf, inSeconds } from '../support/app/people.js';
import { aUser, create } from '../support/data/factories.js';
import { fileOf } from '../support/data/user-file.js';

const HOUR = 3600;
/** Hours by which the clock was ahead when the tested times were stored, before it was set back. */
const AHEAD = 48;
const DEVICE_HOURS = 180 * 24;
const ONCE = aUser();
const app = setUpApp({ IMPORT_OVERDUE_HOURS: '24', FUSE_MIN: '1', FUSE_PERCENT: '0' });
let client: Client;
let connector: Client;
beforeAll(async () => {
  ({ client } = await aPerson(app, { username: 'aware' }));
  const key = await aKey(app);
  connector = key.client;
  await block();
  await execute('INSERT INTO key_fuses (key_id) VALUES (?)', key.id);
  await runImport(app.key, fileOf('x'));
  await login();
});

const execute = (sql: string, ...params: string[]) => databaseOf(app).execute(sql, params);
const hoursUntil = (time = '') =>
  Math.round((Date.parse(`${time.replace(' ', 'T')}Z`) - Date.now()) / (HOUR * 10)) / 100 || 0;
const statusOf = async (answer: Promise<{ status: number }>) => (await answer).status;
const block = async () =>
  statusOf(connector.put(`/users/${(await create(app.key)).uuid}`, { status: 'Blocked' }));
const login = (password = PASSWORD) =>
  app.guest.post('/sessions/login', { username: 'aware', password }, { 'sec-fetch-mode': 'cors' });
const post = () => app.key.post('/users', ONCE, { 'idempotency-key': 'once' });
const postAgain = () => statusOf(post());
const listKeys = () => statusOf(app.key.get('/api_keys'));
const readMe = () => statusOf(client.get('/users/me'));
const purge = () => app.app.get(PurgeService).purgeAll();
const readOverdue = async () => (await app.guest.get('/status')).body.import_overdue as boolean;
const SESSION = ['created', 'expires', 'absolute_expires'];
const TOLERATED = [0.05, 2.05, 12.05];
const OPEN_FUSE = ['blown', 'open_until'];

/** Each row sets columns to hours from now, and expects a response and the hours that are stored afterwards. */
const ROWS: [string, string, string[], number[], () => Promise<unknown>, unknown, number[]][] = [
  ['a used session', 'sessions', SESSION, [AHEAD, 50, 60], readMe, 200, [0, 2, 12]],
  ['a session that was used an hour ahead', 'sessions', SESSION, [-1, 3, 11], readMe, 200, [-1, 2, 11]],
  ['a session within the tolerance', 'sessions', SESSION, TOLERATED, readMe, 200, TOLERATED],
  ['the confirmation of a session', 'sessions', ['confirmed'], [AHEAD], readMe, 200, [0]],
  ['an unused session', 'sessions', SESSION, [AHEAD, 50, 60], purge, undefined, [0, 2, 12]],
  ['a device', 'login_devices', ['expires'], [DEVICE_HOURS + AHEAD], purge, undefined, [DEVICE_HOURS]],
  ['the last use of an API key', 'api_keys', ['last_used'], [AHEAD], listKeys, 200, [0]],
  ['the suspension of a fuse', 'key_fuses', OPEN_FUSE, [AHEAD, 49], block, 429, [0, 49]],
  ['a blocked user', 'key_deactivations', ['time'], [AHEAD], block, 429, [0]],
  ['an idempotent response', 'idempotent_requests', ['created'], [AHEAD], postAgain, 201, [AHEAD]],
  ['a completed import', 'import_runs', ['finished'], [AHEAD], readOverdue, true, [AHEAD]],
];
test.each(ROWS)(
  'a future time of %s has the documented effect',
  async (_, table, columns, hours, act, response, stored) => {
    await post();
    const set = columns.map((column) => `${column} = ?`).join(', ');
    await execute(`UPDATE ${table} SET ${set}`, ...hours.map((n) => inSeconds(n * HOUR)));
    expect(await act()).toEqual(response);
    const [row] = await databaseOf(app).query<Record<string, string>>(
      `SELECT ${columns.join(', ')} FROM ${table} ORDER BY ${columns[0]!} LIMIT 1`,
    );
    expect(Object.values(row ?? {}).map(hoursUntil)).toEqual(stored);
  },
);

test.each([60, HOUR, AHEAD * HOUR])(
  'a login throttle stored by a clock %d s ahead ends after its normal length',
  async (by) => {
    await login('wrong');
    await execute('UPDATE login_failures SET failures = 99, window_ends = ?', inSeconds(by + HOUR));
    const { status, headers } = await login();
    expect([status, headers['retry-after']]).toEqual([429, String(15 * 60)]);
    const sql = 'SELECT MIN(window_ends) AS first, MAX(window_ends) AS last FROM login_failures';
    const [row] = await databaseOf(app).query<Record<string, string>>(sql);
    expect(Object.values(row ?? {}).map(hoursUntil)).toEqual([0.25, 1]);
  },
);

test.each([1, AHEAD])('imports stay in order after a run was created by a clock %d h ahead', async (by) => {
  const { id } = await runImport(app.key, fileOf('before'));
  const ahead = uuidv7({ msecs: Date.now() + by * HOUR * 1000 });
  await execute('UPDATE import_runs SET id = ? WHERE id = ?', ahead, id);
  const next = await runImport(app.key, fileOf(`after-${by}`));
  const revert = (await app.key.post(`/imports/${next.id}/revert`)).body;
  const { Results } = (await app.key.get('/imports?limit=3')).body;
  expect(Results.map((run: { id: string }) => run.id)).toEqual([revert.id, next.id, ahead]);
});

describe('a lease', () => {
  let millis = 0;
  beforeEach(() => void jest.spyOn(performance, 'now').mockImplementation(() => millis));
  afterEach(() => void jest.restoreAllMocks());

  test.each([-AHEAD, -1, 1, AHEAD])(
    'of a killed instance is lost after its length (stored %d h ahead)',
    async (by) => {
      const leases = app.app.get(Leases);
      const values = [`killed ${by}`, uuidv7(), inSeconds(by * HOUR)];
      await execute('INSERT INTO leases (name, owner, until) VALUES (?, ?, ?)', ...values);
      const acquired: boolean[] = [];
      for (let i = 0; i < 3; i++, millis += 510) acquired.push(await leases.acquire(values[0]!, 1));
      expect(acquired).toEqual([false, false, true]);
    },
  );

  test('with a heartbeat is kept when the clock jumps', async () => {
    const [leases, others] = [app.app.get(Leases), new Leases(databaseOf(app))];
    await leases.acquire('kept', 1);
    for (const by of [AHEAD, -AHEAD, 1, -1]) {
      await execute("UPDATE leases SET until = ? WHERE name = 'kept'", inSeconds(by * HOUR));
      expect(await others.acquire('kept', 1)).toBe(false);
      millis += 400;
    }
    expect(await leases.renew('kept', 1)).toBe(true);
  });

  test.each([
    [AHEAD, 0],
    [-AHEAD, -AHEAD],
    [0.05, 0.05],
  ])('returns a recorded event time %d h ahead, or the current time', async (by, stored) => {
    const leases = app.app.get(Leases);
    await leases.recordTime('event', inSeconds(by * HOUR));
    for (const _ of [1, 2]) expect(hoursUntil(await leases.findRecordedTime('event'))).toBe(stored);
  });
});
