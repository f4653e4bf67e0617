import { afterEach, expect, jest, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { setUpApp } from '../support/app/app.js';
import { aroundApply } from '../support/app/around-apply.js';
import { readAuditRows } from '../support/app/audit-rows.js';
import type { Client, Json } from '../support/app/client.js';
import { create } from '../support/data/factories.js';
import { aKey } from '../support/app/credentials.js';
import { LAX_GUARDS } from '../support/app/guards.js';
import {
  countsOf,
  csv,
  decide,
  expectRun,
  findUser,
  guardOf,
  readRun,
  runImport,
} from '../support/app/imports.js';
import { problemOf } from '../support/app/people.js';
import { HEAD, people, person } from '../support/data/user-file.js';

/** The fuse of an API key counts users whom its imports block, unless another credential has approved the run. */
const app = setUpApp({
  FUSE_MIN: '3',
  FUSE_PERCENT: '0',
  ...LAX_GUARDS,
  IMPORT_GUARD_DEACTIVATIONS_ROWS: '1000',
  IMPORT_GUARD_REACTIVATIONS_ROWS: '1000',
});
afterEach(() => void jest.restoreAllMocks());

/** Returns a file of users, of which the first `blocked` have the status Blocked. */
const fileOf = (name: string, users: number, blocked = 0): string =>
  csv(`${HEAD},Status`, ...people(`${name}-`, users, (i) => [i < blocked ? 'Blocked' : 'Active']));
/** Imports a new data set of active users as a Webmaster. */
async function aDataset(users: number): Promise<{ name: string; id: string }> {
  const name = randomUUID();
  const run = await runImport(await app.login(), fileOf(name, users), `dataset=${name}`);
  expect(run.state).toBe('completed');
  return { name, id: run.id };
}
const fuseOf = (run: Json): Json => guardOf(run, 'key_fuse');
const apply = (client: Client, id: string): Promise<Json> => decide(client, id, 'apply');
const blockOne = async (client: Client): Promise<number> =>
  (await client.put(`/users/${(await create(app.key)).uuid as string}`, { status: 'Blocked' })).status;

test('an import that would blow the key fuse waits for approval', async () => {
  const [{ client }, { name }] = [await aKey(app), await aDataset(6)];
  const run = await runImport(client, fileOf(name, 6, 4), `dataset=${name}`);
  expect(run.state).toBe('needs_approval');
  expect(fuseOf(run)).toMatchObject({ value: 4, limit: 3, hit: true });
  const done = await apply(await app.login(), run.id);
  expect([done.state, countsOf(done)]).toEqual(['completed', { blocked: 4, unchanged: 2 }]);
  expect(await blockOne(client)).toBe(200); // the fuse does not count an approved run
});

test('the key fuse counts users blocked by requests and imports', async () => {
  const [{ client }, one, two] = [await aKey(app), await aDataset(3), await aDataset(3)];
  const first = await runImport(client, fileOf(one.name, 3, 2), `dataset=${one.name}`);
  expect(first.state).toBe('completed');
  expect(fuseOf(first)).toMatchObject({ value: 2, limit: 3, hit: false });
  expect(await blockOne(client)).toBe(200);
  const second = await runImport(client, fileOf(two.name, 3, 1), `dataset=${two.name}`);
  expect([second.state, fuseOf(second).value]).toEqual(['needs_approval', 4]);
  expect(await blockOne(client)).toBe(429);
});

test('an import revert that would blow the key fuse waits for approval', async () => {
  const [{ client }, { name, id }] = [await aKey(app), await aDataset(5)];
  const run = await decide(client, id, 'revert');
  expect([run.state, fuseOf(run).value]).toEqual(['needs_approval', 5]);
  expect((await findUser(app.key, `${name}-0`)).status).toBe('Active');
  expect((await apply(app.key, run.id)).state).toBe('completed');
  expect(await findUser(app.key, `${name}-0`)).toBeUndefined();
});

/** Reactivates users with a new phone in an import, then changes the phone over the API. @returns the id of the run. */
async function reactivate(client: Client, ids: readonly string[], more = '', options = ''): Promise<string> {
  const head = `${HEAD},Status,Phone${more === '' ? '' : ',Roles'}`;
  const rows = (status: string, phone: string) =>
    csv(head, ...ids.map((id) => person(id, status, `${phone}${more}`)));
  const dataset = `dataset=${randomUUID()}${options}`;
  await runImport(client, rows('Blocked', '1'), dataset);
  const { id, state } = await runImport(client, rows('Active', '2'), dataset);
  expect(state).toBe('completed');
  for (const each of ids) await app.key.put(`/users/${(await findUser(app.key, each)).uuid}`, { phone: '3' });
  return id;
}

test('the key fuse counts blocked users of a revert with conflicts', async () => {
  const name = randomUUID();
  const ids = [0, 1, 2, 3].map((i) => `${name}-${i}`);
  const [{ client }, id] = [await aKey(app), await reactivate(await app.login(), ids)];
  const run = await decide(client, id, 'revert');
  expectRun(run, 'needs_approval', { error: 4 });
  expect(fuseOf(run)).toMatchObject({ value: 4, limit: 3, hit: true });
  expect((await apply(app.key, run.id)).state).toBe('completed_with_errors');
  expect((await findUser(app.key, `${name}-3`)).status).toBe('Blocked');
});

test('a user cannot approve a revert that blocks this user', async () => {
  const id = `webmaster-${randomUUID()}`;
  const run = await reactivate(app.key, [id], ',Webmaster', '&allow_privileged=true');
  const { uuid } = await findUser(app.key, id);
  await app.key.put(`/users/${uuid}`, { password: 'paint the garden fence' });
  const plan = await decide(app.key, run, 'revert?dry_run=true');
  expect([plan.state, countsOf(plan)]).toEqual(['planned', { error: 1 }]);
  const own = await app.login(id, 'paint the garden fence');
  expect((await own.post(`/imports/${plan.id}/apply`)).body.code).toBe('self_block');
  expect((await readRun(app.key, plan.id)).state).toBe('planned');
  expect((await apply(app.key, plan.id)).state).toBe('completed_with_errors');
  expect((await findUser(app.key, id)).status).toBe('Blocked');
});

test('the key fuse counts users blocked as missing', async () => {
  const [{ client }, { name }] = [await aKey(app), await aDataset(6)];
  const run = await runImport(client, fileOf(name, 2), `dataset=${name}&missing=block`);
  expect([run.state, fuseOf(run).value]).toEqual(['needs_approval', 4]);
});

test('an import that blows the key fuse while writing ends with fuse_blown', async () => {
  const [{ id, client }, { name }] = [await aKey(app), await aDataset(3)];
  aroundApply(app, async () => {
    for (const _ of [1, 2]) expect(await blockOne(client)).toBe(200);
  });
  const run = await runImport(client, fileOf(name, 3, 2), `dataset=${name}`);
  expectRun(run, 'cancelled', { skipped: 2, unchanged: 1 });
  expect(run.problems[0].code).toBe('fuse_blown');
  expect((await findUser(app.key, `${name}-0`)).status).toBe('Active');
  expect((await readAuditRows(app, id)).at(-1)?.action).toBe('api_key.fuse_blown');
});

test('an API key cannot approve an import that hits its own fuse', async () => {
  const SCOPES = ['users:read', 'users:write', 'imports:read', 'imports:write'];
  const [{ client: limited }, { client: full }] = [await aKey(app, ...SCOPES), await aKey(app)];
  const { client: other } = await aKey(app, ...SCOPES);
  for (const starter of [limited, full]) {
    const { name } = await aDataset(6);
    const run = await runImport(starter, fileOf(name, 6, 4), `dataset=${name}`);
    expect([run.state, fuseOf(run).hit]).toEqual(['needs_approval', true]);
    for (const approver of [starter, other]) {
      expect(problemOf(await approver.post(`/imports/${run.id}/apply`))).toEqual([403, 'forbidden']);
    }
    expect((await readAuditRows(app, run.id)).map(({ action }) => action)).toEqual(['import.created']);
    expect((await apply(app.key, run.id)).state).toBe('completed');
  }
});

test('an import from a session has no key_fuse guard', async () => {
  const { name } = await aDataset(6);
  const run = await runImport(await app.login(), fileOf(name, 6, 5), `dataset=${name}`);
  expect([run.state, fuseOf(run)]).toEqual(['completed', undefined]);
});
