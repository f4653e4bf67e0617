import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { TestApp } from '../support/app/app.js';
import type { Json } from '../support/app/client.js';
import { counted, csv, imported, linked, settled } from '../support/app/imports.js';
import { databaseOf } from '../support/app/people.js';

/** Which runs are stopped before the first write, and what an operator can do about it. */
let app: TestApp;
let n = 0;
let dataset = '';
beforeAll(async () => void (app = await TestApp.start()));
afterAll(async () => app.end());
beforeEach(() => void (dataset = `g${++n}`));

const HEAD = 'ExternalId,Username,Email,Status,Phone,ForeName';
const row = (
  i: number,
  change: Partial<Record<'id' | 'name' | 'mail' | 'status' | 'phone', string>> = {},
) => {
  const id = `${dataset}-${i}`;
  const { name = id, mail = `${id}@example.org`, status = 'Active', phone = '1' } = change;
  return `${change.id ?? id},${name},${mail},${status},${phone},Ann`;
};
const rows = (count: number, change: (i: number) => Parameters<typeof row>[1] = () => ({})) =>
  Array.from({ length: count }, (_, i) => row(i, change(i)));
const load = async (count: number, change?: (i: number) => Parameters<typeof row>[1]) =>
  imported(app.key, csv(HEAD, ...rows(count, change)), `dataset=${dataset}`);
const everybody = () => databaseOf(app).query('SELECT * FROM users ORDER BY uuid');
const hits = (run: Json) =>
  (run.guards as { name: string; hit: boolean }[]).filter(({ hit }) => hit).map(({ name }) => name);

/** [what, users before, the file, options, the guard, its value and limit] */
const PARKED: [string, number, () => string[], string, string, [number, number]][] = [
  [
    'six blocked of thirty',
    30,
    () => rows(30, (i) => (i < 6 ? { status: 'Blocked' } : {})),
    '',
    'deactivations',
    [6, 3],
  ],
  ['eleven missing of a hundred', 100, () => rows(89), 'missing=block', 'deactivations', [11, 10]],
  ['half of the file', 30, () => rows(15), 'missing=block', 'shrunken_file', [15, 24]],
  [
    'a changed key column',
    10,
    () =>
      rows(10, (i) => ({
        id: `${dataset}-new-${i}`,
        name: `${dataset}-x${i}`,
        mail: `${dataset}-x${i}@example.org`,
      })),
    '',
    'changed_keys',
    [10, 3],
  ],
  ['a column emptied', 25, () => rows(25, () => ({ phone: '' })), 'missing=block', 'emptied_field', [25, 2]],
  [
    'usernames changed',
    40,
    () => rows(40, (i) => (i < 20 ? { name: `${dataset}-y${i}` } : {})),
    '',
    'changed_field',
    [20, 4],
  ],
  [
    'e-mails changed',
    40,
    () => rows(40, (i) => (i < 20 ? { mail: `${dataset}-y${i}@example.org` } : {})),
    '',
    'changed_field',
    [20, 4],
  ],
  ['many errors', 40, () => rows(40, (i) => (i < 20 ? { mail: 'bad' } : {})), '', 'errors', [20, 4]],
];

test.each(PARKED)(
  '%s: parked, with value and limit, and nobody is touched',
  async (_, count, file, options, name, [value, limit]) => {
    await load(count);
    const before = await everybody();
    const run = await imported(
      app.key,
      csv(HEAD, ...file()),
      `dataset=${dataset}&${options}`.replace(/&$/, ''),
    );
    expect(run.state).toBe('needs_approval');
    expect(hits(run)).toContain(name);
    expect(run.guards).toContainEqual(expect.objectContaining({ name, value, limit, hit: true }));
    expect(await everybody()).toEqual(before);
  },
);

test('reactivations are guarded like deactivations', async () => {
  await load(30, (i) => (i < 6 ? { status: 'Blocked' } : {}));
  const run = await load(30);
  expect([run.state, hits(run)]).toEqual(['needs_approval', ['reactivations']]);
});

test.each<[string, number, () => string[], string]>([
  ['three blocked of thirty', 30, () => rows(30, (i) => (i < 3 ? { status: 'Blocked' } : {})), ''],
  ['ten missing of a hundred', 100, () => rows(90), 'missing=block'],
  ['a phone of two emptied in nineteen', 19, () => rows(19, (i) => (i < 2 ? { phone: '' } : {})), ''],
  ['a tenth of the usernames', 100, () => rows(100, (i) => (i < 10 ? { name: `${dataset}-y${i}` } : {})), ''],
  ['four errors', 40, () => rows(40, (i) => (i < 4 ? { mail: 'bad' } : {})), ''],
  ['a smaller file that blocks nobody', 30, () => rows(15), ''],
])('%s: not parked', async (_, count, file, options) => {
  await load(count);
  const run = await imported(
    app.key,
    csv(HEAD, ...file()),
    `dataset=${dataset}&${options}`.replace(/&$/, ''),
  );
  expect([run.state.slice(0, 9), hits(run)]).toEqual(['completed', []]);
});

test.each([
  ['a header alone', () => csv(HEAD), 'empty_file'],
  ['a file cut inside a row', () => csv(HEAD, ...rows(30)).slice(0, -30), 'cut_short'],
  ['a file cut inside a quoted cell', () => `${csv(HEAD, ...rows(30))}x,"y`, 'unclosed_quote'],
])('%s is refused as a whole, and no user is changed', async (_, file, code) => {
  await load(30);
  const before = await everybody();
  const run = await imported(app.key, file(), `dataset=${dataset}&missing=block`);
  expect([run.state, run.problems[0].code]).toEqual(['failed', code]);
  expect(await everybody()).toEqual(before);
});

describe('an operator', () => {
  const parked = async () => {
    await load(30);
    return imported(
      app.key,
      csv(HEAD, ...rows(30, (i) => (i < 6 ? { status: 'Blocked' } : {}))),
      `dataset=${dataset}`,
    );
  };
  test('approves a parked run: it is planned again and applied', async () => {
    const run = await parked();
    const answer = await app.key.post(`/imports/${run.id}/apply`);
    expect([answer.status, answer.headers['location']]).toEqual([202, `/api/0.3/imports/${run.id}`]);
    const done = await settled(app.key, run.id);
    expect([done.state, counted(done)]).toEqual(['completed', { blocked: 6, unchanged: 24 }]);
  });
  test('that is approved after another client has changed a user is void', async () => {
    const run = await parked();
    const user = await linked(app.key, `${dataset}-0`);
    await app.key.put(`/users/${user.uuid}`, { status: 'Blocked' });
    await app.key.post(`/imports/${run.id}/apply`);
    const done = await settled(app.key, run.id);
    expect([done.state, done.problems[0].code]).toEqual(['superseded', 'plan_changed']);
    expect((await linked(app.key, `${dataset}-1`)).status).toBe('Active');
  });
  test.each([
    ['reject', 'rejected'],
    ['cancel', 'cancelled'],
  ])('may %s it, once', async (word, state) => {
    const run = await parked();
    expect((await app.key.post(`/imports/${run.id}/${word}`)).body.state).toBe(state);
    for (const again of ['apply', 'reject', 'cancel', 'revert']) {
      const { status, body } = await app.key.post(`/imports/${run.id}/${again}`);
      expect([again, status, body.code]).toEqual([again, 409, 'wrong_state']);
    }
  });
  test('who sends a newer file can ignore the parked run', async () => {
    const run = await parked();
    const newer = await load(30);
    const old = (await app.key.get(`/imports/${run.id}`)).body;
    expect([newer.state, old.state, old.problems[0].code]).toEqual(['completed', 'superseded', 'newer_run']);
  });
  test('looks at a dry run first, and applies it', async () => {
    const file = csv(HEAD, ...rows(3));
    const plan = await imported(app.key, file, `dataset=${dataset}&dry_run=true`);
    expect([plan.state, plan.dry_run, counted(plan)]).toEqual(['planned', true, { created: 3 }]);
    expect(await linked(app.key, `${dataset}-0`)).toBeUndefined();
    const listed = (await app.key.get(`/imports/${plan.id}/rows`)).body.Results;
    await app.key.post(`/imports/${plan.id.toUpperCase()}/apply`);
    const done = await settled(app.key, plan.id);
    expect([done.state, done.dry_run, counted(done)]).toEqual(['completed', false, { created: 3 }]);
    expect((await linked(app.key, `${dataset}-0`)).uuid).toBe(listed[0].uuid);
  });
});

test('the limits are settings', async () => {
  const strict = await TestApp.start({
    IMPORT_MAX_DEACTIVATIONS: '1',
    IMPORT_MAX_DEACTIVATIONS_PERCENT: '0',
  });
  try {
    await imported(strict.key, csv(HEAD, ...rows(5)));
    const run = await imported(
      strict.key,
      csv(HEAD, ...rows(5, (i) => (i < 2 ? { status: 'Blocked' } : {}))),
    );
    expect(run.guards).toContainEqual(
      expect.objectContaining({ name: 'deactivations', value: 2, limit: 1, hit: true }),
    );
  } finally {
    await strict.end();
  }
});
