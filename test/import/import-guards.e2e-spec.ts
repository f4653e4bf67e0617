import { beforeEach, describe, expect, test } from '@jest/globals';
import { setUpApp } from '../support/app/app.js';
import type { Json } from '../support/app/client.js';
import { awaitRun, countsOf, csv, decide, findUser, readRun, runImport } from '../support/app/imports.js';
import { shiftUp } from '../nights/changes.js';
import { people, toCsv } from '../nights/people.js';
import { HEAD, people as peopleOf } from '../support/data/user-file.js';

/** Runs that wait for approval before the first write, and the decisions of an operator about them. */
const app = setUpApp();
let n = 0;
let dataset = '';
beforeEach(() => void (dataset = `g${++n}`));

const COLUMNS = `${HEAD},Status`;
/** Returns rows of the data set, of which the first `blocked` have the status Blocked. */
const rows = (count: number, blocked = 0) =>
  peopleOf(`${dataset}-`, count, (i) => [i < blocked ? 'Blocked' : 'Active']);
const importRows = (count: number, blocked?: number) =>
  runImport(app.key, csv(COLUMNS, ...rows(count, blocked)), `dataset=${dataset}`);

test('an import guard that is hit reports examples and a hint', async () => {
  const all = people(dataset, 50);
  await runImport(app.key, toCsv(all), `dataset=${dataset}`);
  const run = await runImport(app.key, toCsv(shiftUp('phone', -1)(all)), `dataset=${dataset}`);
  const guards = run.guards as Json[];
  const [guard, ...others] = guards;
  expect(guard).toMatchObject({ name: 'slid_column', field: 'phone', value: 50, limit: 5, hit: true });
  expect(guard?.hint).toMatch(/^The values of this column moved by one row.*\.$/);
  expect(guard?.examples).toHaveLength(5);
  expect(guard?.examples[1]).toEqual({
    line: 3,
    external_id: all[1]?.external_id,
    name: `${all[1]?.firstname} ${all[1]?.surname}`,
    old: all[1]?.phone,
    new: all[0]?.phone,
  });
  // One sentence is enough for one accident.
  expect(others.find(({ name }) => name === 'changed_field')).toMatchObject({ hit: true, hint: '' });
  expect(guards.filter(({ hit }) => !hit).every(({ examples }) => examples.length === 0)).toBe(true);
});

describe('a waiting import', () => {
  const createWaiting = async () => {
    await importRows(30);
    return importRows(30, 6);
  };
  test('is superseded at the approval if a user has changed', async () => {
    const run = await createWaiting();
    await app.key.put(`/users/${(await findUser(app.key, `${dataset}-0`)).uuid}`, { status: 'Blocked' });
    const done = await decide(app.key, run.id, 'apply');
    expect([done.state, done.problems[0].code]).toEqual(['superseded', 'plan_changed']);
    expect((await findUser(app.key, `${dataset}-1`)).status).toBe('Active');
  });
  test.each([
    ['reject', 'rejected'],
    ['cancel', 'cancelled'],
  ])('accepts only one decision: %s', async (word, state) => {
    const run = await createWaiting();
    expect((await app.key.post(`/imports/${run.id}/${word}`)).body).toMatchObject({ state, applied: false });
    for (const again of ['apply', 'reject', 'cancel', 'revert']) {
      const { status, body } = await app.key.post(`/imports/${run.id}/${again}`);
      expect([again, status, body.code]).toEqual([again, 409, 'wrong_state']);
    }
  });
  test('is superseded by a newer import of the data set', async () => {
    const run = await createWaiting();
    const newer = await importRows(30);
    const old = await readRun(app.key, run.id);
    expect(newer.state).toBe('completed');
    expect([old.state, old.problems[0].code]).toEqual(['superseded', 'newer_run']);
  });
  test('creates users with the planned uuids', async () => {
    const plan = await runImport(app.key, csv(COLUMNS, ...rows(3)), `dataset=${dataset}&dry_run=true`);
    expect([plan.state, plan.dry_run, countsOf(plan)]).toEqual(['planned', true, { created: 3 }]);
    expect(await findUser(app.key, `${dataset}-0`)).toBeUndefined();
    const listed = (await app.key.get(`/imports/${plan.id}/rows`)).body.Results;
    const answer = await app.key.post(`/imports/${plan.id.toUpperCase()}/apply`);
    expect([answer.status, answer.headers['location']]).toEqual([202, `/api/0.3/imports/${plan.id}`]);
    const done = await awaitRun(app.key, plan.id);
    expect([done.state, done.dry_run, countsOf(done)]).toEqual(['completed', false, { created: 3 }]);
    expect((await findUser(app.key, `${dataset}-0`)).uuid).toBe(listed[0].uuid);
  });
});
