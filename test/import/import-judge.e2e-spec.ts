import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { TestApp } from '../support/app/app.js';
import type { Json } from '../support/app/client.js';
import { create } from '../support/data/factories.js';
import { counted, csv, imported, linked, rowsOf, settled } from '../support/app/imports.js';

/** What only the whole file can tell, where plan and writer once differed. */
let app: TestApp;
beforeAll(async () => void (app = await TestApp.start()));
afterAll(async () => app.end());

const PRIVILEGED = 'allow_privileged=true';
const admin = async (): Promise<Json> => (await app.key.get('/users/search?username=admin')).body.Results[0];
const failures = async (run: Json) =>
  (await rowsOf(app.key, run.id, 'outcome=error&limit=100')).map(({ line, errors: [error] }) => [
    line,
    error.field,
    error.code,
  ]);
/** Applies a plan and expects of every row what the plan says. */
async function applied(plan: Json): Promise<Json> {
  // Whoever has another name then is called by it.
  const rows = async () => (await rowsOf(app.key, plan.id)).map(({ name: _, ...row }) => row);
  const planned = await rows();
  await app.key.post(`/imports/${plan.id}/apply`);
  const run = await settled(app.key, plan.id);
  expect([run.counts, await rows()]).toEqual([plan.counts, planned]);
  return run;
}

test('a Webmaster may go in the first row when the last row of a long file brings the next one', async () => {
  await app.key.put(`/users/${(await admin()).uuid}`, { external_id: 'W1' });
  const others = Array.from({ length: 600 }, (_, n) => `f${n},f${n},f${n}@example.org,`);
  const file = csv(
    'ExternalId,Username,Email,Roles',
    'W1,admin,,Organisational user',
    ...others,
    'W2,heir,heir@example.org,Webmaster',
  );
  const plan = await imported(app.key, file, `dry_run=true&${PRIVILEGED}`);
  expect(counted(plan)).toEqual({ created: 601, updated: 1 });
  await app.key.post(`/imports/${plan.id}/apply`);
  expect(counted(await settled(app.key, plan.id))).toEqual({ created: 601, updated: 1 });
  expect([(await admin()).roles, (await linked(app.key, 'W2')).roles]).toEqual([
    ['Organisational user'],
    ['Webmaster'],
  ]);
  await app.key.put(`/users/${(await admin()).uuid}`, { roles: ['Webmaster'] });
});

test('where the next Webmaster cannot be created, the last one stays, and keeps the name that others want', async () => {
  await app.key.put(`/users/${(await linked(app.key, 'W2')).uuid}`, { status: 'Blocked' });
  const file = csv(
    'ExternalId,Username,Email,Status,Roles',
    'W1,old admin,,Blocked,',
    'W3,admin,w3@example.org,,Webmaster',
  );
  const plan = await imported(app.key, file, `dry_run=true&${PRIVILEGED}`);
  // The successor needs the name that the last Webmaster releases only if the successor succeeds: they succeed together.
  expect(counted(plan)).toEqual({ created: 1, blocked: 1 });
  const bad = file.replace('w3@example.org', 'no address');
  const refused = await imported(app.key, bad, `dry_run=true&${PRIVILEGED}`);
  expect(await failures(refused)).toEqual([
    [2, 'status', 'last_webmaster'],
    [3, 'email', 'invalid_format'],
  ]);
  await applied(plan);
  expect((await linked(app.key, 'W3')).username).toBe('admin');
});

test('two rows that take over one user both fail', async () => {
  const user = await create(app.key, { username: 'orla', email: 'orla@example.org', external_id: undefined });
  const file = csv('ExternalId,Username,Email', 'o1,orla,orla@example.org', 'o2,orla2,Orla@example.org');
  const plan = await imported(app.key, file, 'dry_run=true&adopt=email');
  expect(await failures(plan)).toEqual([
    [2, 'external_id', 'duplicate'],
    [3, 'external_id', 'duplicate'],
  ]);
  await applied(plan);
  expect((await app.key.get(`/users/${user.uuid}`)).body).toMatchObject({
    username: 'orla',
    external_id: '',
  });
});

test('whoever sends a file is not blocked by it, in the plan and after it', async () => {
  const webmaster = await create(app.key, {
    username: 'boss',
    external_id: 'B1',
    roles: ['Webmaster'],
    password: 'a password of the boss',
  });
  const session = await app.login('boss', 'a password of the boss');
  const file = csv('ExternalId,Status', 'B1,Blocked');
  const plan = await imported(session, file, `dry_run=true&${PRIVILEGED}`);
  expect(await failures(plan)).toEqual([[2, 'status', 'self_block']]);
  await session.post(`/imports/${plan.id}/apply`);
  await settled(session, plan.id);
  expect((await app.key.get(`/users/${webmaster.uuid}`)).body.status).toBe('Active');
});
