import { expect, test } from '@jest/globals';
import { setUpApp } from '../support/app/app.js';
import type { Json } from '../support/app/client.js';
import { create } from '../support/data/factories.js';
import { aPerson } from '../support/app/people.js';
import { countsOf, csv, decide, findUser, rowsOf, runImport } from '../support/app/imports.js';

/** Rules about the whole file, for which the plan and the writer must have the same results. */
const app = setUpApp();

const PRIVILEGED = 'allow_privileged=true';
const getAdmin = async () => (await app.key.get('/users/search?username=admin')).body.Results[0];
const failuresOf = (run: Json): string[] =>
  run.problems.map(({ line, field, code }: Json) => `${line} ${field} ${code}`);
/** Applies a plan and expects the planned outcome of every row. */
async function applyPlan(plan: Json): Promise<Json> {
  // The name of a row can change with its user.
  const rows = async () => (await rowsOf(app.key, plan.id)).map(({ name: _, ...row }) => row);
  const planned = await rows();
  const run = await decide(app.key, plan.id, 'apply');
  expect([run.counts, await rows()]).toEqual([plan.counts, planned]);
  return run;
}

test('an import can replace the last Webmaster with its last row', async () => {
  await app.key.put(`/users/${(await getAdmin()).uuid}`, { external_id: 'W1' });
  const others = Array.from({ length: 600 }, (_, n) => `f${n},f${n},f${n}@example.org,`);
  const file = csv(
    'ExternalId,Username,Email,Roles',
    'W1,admin,,Organisational user',
    ...others,
    'W2,heir,heir@example.org,Webmaster',
  );
  const plan = await runImport(app.key, file, `dry_run=true&${PRIVILEGED}`);
  expect(countsOf(plan)).toEqual({ created: 601, updated: 1 });
  expect(countsOf(await decide(app.key, plan.id, 'apply'))).toEqual({ created: 601, updated: 1 });
  expect((await getAdmin()).roles).toEqual(['Organisational user']);
  expect((await findUser(app.key, 'W2')).roles).toEqual(['Webmaster']);
  await app.key.put(`/users/${(await getAdmin()).uuid}`, { roles: ['Webmaster'] });
});

test('an import cannot block the last Webmaster if the successor is invalid', async () => {
  await app.key.put(`/users/${(await findUser(app.key, 'W2')).uuid}`, { status: 'Blocked' });
  const rows = ['W1,old admin,,Blocked,', 'W3,admin,w3@example.org,,Webmaster'];
  const file = csv('ExternalId,Username,Email,Status,Roles', ...rows);
  const plan = await runImport(app.key, file, `dry_run=true&${PRIVILEGED}`);
  // The new Webmaster takes the username of the last Webmaster, so each row depends on the other row.
  expect(countsOf(plan)).toEqual({ created: 1, blocked: 1 });
  const bad = file.replace('w3@example.org', 'no address');
  const failed = await runImport(app.key, bad, `dry_run=true&${PRIVILEGED}`);
  expect(failuresOf(failed)).toEqual(['2 status last_webmaster', '3 email invalid_format']);
  await applyPlan(plan);
  expect((await findUser(app.key, 'W3')).username).toBe('admin');
});

test('two import rows that adopt the same user both fail', async () => {
  const user = await create(app.key, { username: 'orla', email: 'orla@example.org', external_id: undefined });
  const file = csv('ExternalId,Username,Email', 'o1,orla,orla@example.org', 'o2,orla2,Orla@example.org');
  const plan = await runImport(app.key, file, 'dry_run=true&adopt=email');
  expect(failuresOf(plan)).toEqual(['2 external_id duplicate', '3 external_id duplicate']);
  await applyPlan(plan);
  const after = (await app.key.get(`/users/${user.uuid}`)).body;
  expect(after).toMatchObject({ username: 'orla', external_id: '' });
});

test('an import row that would block the sender fails with self_block', async () => {
  const { user, client: session } = await aPerson(app, { external_id: 'B1', roles: ['Webmaster'] });
  const plan = await runImport(session, csv('ExternalId,Status', 'B1,Blocked'), `dry_run=true&${PRIVILEGED}`);
  expect(failuresOf(plan)).toEqual(['2 status self_block']);
  await decide(session, plan.id, 'apply');
  expect((await app.key.get(`/users/${user.uuid}`)).body.status).toBe('Active');
});
