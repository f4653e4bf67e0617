import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { toDbTime } from '../../src/platform/common/time.js';
import { TestApp } from '../support/app/app.js';
import type { Json } from '../support/app/client.js';
import { csv, imported, linked, settled } from '../support/app/imports.js';
import { databaseOf } from '../support/app/people.js';

/** Guards that look at the earlier runs of the data set. */
let app: TestApp;
const DAY_MILLIS = 24 * 3_600_000;
let n = 0;
let dataset = '';
beforeAll(async () => void (app = await TestApp.start()));
afterAll(async () => app.end());
beforeEach(() => void (dataset = `h${++n}`));

interface Cells {
  phone?: string;
  status?: string;
  mail?: string;
  surname?: string;
}
/** A file of some people; `change` says what differs from the first one. */
const fileOf = (count: number, change: (i: number) => Cells = () => ({})): string =>
  csv(
    'ExternalId,Username,Email,Surname,Phone,Status',
    ...Array.from({ length: count }, (_, i) => {
      const id = `${dataset}-${i}`;
      const {
        phone = `+44 ${1000 + i}`,
        status = 'Active',
        mail = `${id}@example.org`,
        surname = `Sun${i}`,
      } = change(i);
      return `${id},${id},${mail},${surname},${phone},${status}`;
    }),
  );
const load = async (file: string, options = ''): Promise<Json> =>
  imported(app.key, file, `dataset=${dataset}${options}`);
const night = async (count: number, change?: (i: number) => Cells, options = ''): Promise<Json> =>
  load(fileOf(count, change), options);
const hits = (run: Json): string[] =>
  (run.guards as Json[]).filter(({ hit }) => hit).map(({ name }) => name as string);
const passed = (run: Json) => expect([hits(run), run.state]).toEqual([[], 'completed']);
const parked = (run: Json, ...guards: string[]) =>
  expect([hits(run), run.state]).toEqual([guards, 'needs_approval']);
const approved = async ({ id }: Json): Promise<Json> => {
  expect((await app.key.post(`/imports/${id as string}/apply`)).status).toBe(202);
  return settled(app.key, id as string);
};
const reverted = async ({ id }: Json): Promise<Json> => {
  const answer = await app.key.post(`/imports/${id as string}/revert`);
  return settled(app.key, answer.body.id as string);
};
const blocked = (to: number) => (i: number) => (i < to ? { status: 'Blocked' } : {});

test('what an operator has approved, what was undone and what is a week old does not count', async () => {
  passed(await night(50));
  expect((await approved(await night(50, blocked(15)))).state).toBe('completed');
  passed(await night(50, blocked(17))); // an ordinary night after a large approved one
  const five = await night(50, blocked(20));
  passed(five);
  expect((await reverted(five)).state).toBe('completed');
  await databaseOf(app).execute(
    `UPDATE import_runs SET finished = '2020-01-01 00:00:00.000' WHERE dataset = ? AND reverts IS NULL`,
    [dataset],
  );
  const again = await night(50, (i) => (i < 17 || (i >= 30 && i < 33) ? { status: 'Blocked' } : {}));
  passed(again);
});

test('blocked users count for seven days', async () => {
  const finish = (days: number) =>
    databaseOf(app).execute(
      'UPDATE import_runs SET finished = ? WHERE dataset = ? AND finished IS NOT NULL',
      [toDbTime(new Date(Date.now() - days * DAY_MILLIS)), dataset],
    );
  passed(await night(50));
  passed(await night(50, blocked(4)));
  passed(await night(50, blocked(8)));
  parked(await night(50, blocked(12)), 'deactivations');
  await finish(6);
  parked(await night(50, blocked(12)), 'deactivations');
  await finish(8);
  passed(await night(50, blocked(12)));
});

test('an older file of other bytes, which changes back what the last run changed', async () => {
  passed(await night(60));
  passed(await night(62, (i) => (i < 6 ? { phone: `+49 ${i}` } : {})));
  passed(await night(62, (i) => (i < 6 ? { phone: `+49 ${i}` } : {}))); // nothing new
  const run = await load(fileOf(62, (i) => (i === 40 ? { phone: '+49 40' } : {})));
  parked(run, 'old_file');
  const guard = run.guards.find(({ name }: Json) => name === 'old_file');
  expect(guard).toMatchObject({ value: 6, limit: 4 });
  expect(guard.examples[0]).toEqual({ line: 2, external_id: `${dataset}-0`, old: '+49 0', new: '+44 1000' });
});

test('new people who are gone again count as changed back', async () => {
  passed(await night(60));
  passed(await night(65, undefined, '&missing=block'));
  parked(await night(60, (i) => (i === 1 ? { phone: '+49 1' } : {}), '&missing=block'), 'old_file');
});

test('a wrong name of the data set is parked; what an operator has approved passes from then on', async () => {
  passed(await night(40));
  const other = (change?: (i: number) => Cells) =>
    imported(app.key, fileOf(40, change), `dataset=${dataset}-typo`);
  const run = await other();
  parked(run, 'foreign_dataset');
  expect(run.guards.find(({ name }: Json) => name === 'foreign_dataset')).toMatchObject({
    value: 40,
    limit: 4,
  });
  expect((await approved(run)).state).toBe('completed');
  passed(await other((i) => (i < 2 ? { phone: '+49 1' } : {})));
  passed(await other((i) => (i < 3 ? { phone: '+49 1' } : {})));
});

test('rows that failed in the same way last time are no news; others are', async () => {
  passed(await night(60));
  const bad = (from: number, to: number) => (i: number) => (i >= from && i < to ? { mail: 'nobody' } : {});
  const first = await night(60, bad(0, 8));
  parked(first, 'errors');
  expect(first.guards.find(({ name }: Json) => name === 'errors').examples[0]).toEqual({
    line: 2,
    external_id: `${dataset}-0`,
    old: null,
    new: 'email: invalid_format',
  });
  expect((await approved(first)).state).toBe('completed_with_errors');
  const same = await night(60, bad(0, 8));
  expect([hits(same), same.state]).toEqual([[], 'completed_with_errors']);
  parked(await night(60, bad(8, 16)), 'errors');
});

test('those that a revert blocked do not return unnoticed, and an undone revert is forgotten', async () => {
  passed(await night(60));
  const hires = await night(62);
  passed(hires);
  const revert = await reverted(hires);
  expect((await linked(app.key, `${dataset}-60`)).status).toBe('Blocked');
  parked(await night(62), 'after_revert');
  expect((await reverted(revert)).state).toBe('completed');
  passed(await night(62, (i) => (i === 60 ? { phone: '+49 1' } : {})));
});

test('a plan that is made twice has the same guards', async () => {
  passed(await night(60));
  passed(await night(60, (i) => (i < 6 ? { phone: `+49 ${i}` } : {})));
  const run = await night(60, (i) => ({
    phone: `+33 ${(i + 1) % 60}`,
    surname: i < 30 ? 'Same' : `Sun${i}`,
  }));
  expect(run.state).toBe('needs_approval');
  const done = await approved(run);
  expect([done.state, done.guards]).toEqual(['completed', run.guards]);
});
