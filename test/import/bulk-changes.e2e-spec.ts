import { expect, test } from '@jest/globals';
import { setUpApp } from '../support/app/app.js';
import type { Json } from '../support/app/client.js';
import { aKey } from '../support/app/credentials.js';
import { awaitRun, csv, decide, expectRun, findUser, rowsOf, runImport } from '../support/app/imports.js';
import { fieldErrorsOf, problemOf } from '../support/app/people.js';
import { UNKNOWN } from '../support/data/factories.js';
import { HEAD, people } from '../support/data/user-file.js';

/** Bulk changes: runs whose rows are selected users. */
const app = setUpApp({ FUSE_MIN: '0' });

const reason = 'Term ended';
const HR = { managed_by: 'hr' };
async function start(body: object, client = app.key): Promise<Json> {
  const { body: run } = await client.post('/imports', { reason, ...body });
  return awaitRun(app.key, run.id);
}
const countUsers = async (query: string) => (await app.key.get(`/users/search?${query}`)).body.Count;

test('a bulk change is planned, stopped by its guard, approved for the planned users, applied and reverted', async () => {
  const file = csv(`${HEAD},Manager,Roles`, ...people('p', 60, (i) => [i > 0 ? `p${i - 1}` : '', '']));
  await runImport(app.key, file, 'dataset=hr');
  const change = { status: 'Blocked', add_roles: ['editor'], remove_roles: ['Organisational user'] };
  const parked = await start({ where: HR, change });
  expectRun(parked, 'needs_approval', { blocked: 60 });
  expect(parked).toMatchObject({ where: HR, change, reason, options: { dataset: '' } });
  expect(parked.guards.map(({ name, value, hit }: Json) => [name, value, hit])).toEqual([
    ['deactivations', 60, true],
    ['reactivations', 0, false],
  ]);
  const [{ hint, examples }] = parked.guards;
  expect([hint, examples[0].line]).toEqual([
    expect.stringMatching(/Check them before.*example: p\d+, p/),
    null,
  ]);
  await runImport(app.key, csv(HEAD, ...people('late', 1)), 'dataset=hr');
  const applied = await decide(app.key, parked.id, 'apply');
  expectRun(applied, 'completed', { blocked: 60 });
  expect(await findUser(app.key, 'p7')).toMatchObject({ status: 'Blocked', roles: ['Editor'] });
  expect((await findUser(app.key, 'late0')).status).toBe('Active');
  const audit = (await app.key.get(`/users/${(await findUser(app.key, 'p7')).uuid}/history`)).body.Results[0];
  expect([audit.action, audit.reason]).toEqual(['user.blocked', reason]);
  expectRun(await decide(app.key, applied.id, 'revert'), 'completed', { reactivated: 60 });
  expect(await findUser(app.key, 'p7')).toMatchObject({ status: 'Active', roles: ['Organisational user'] });
});

test('a bulk deletion counts as deactivation, and its revert restores the users with their managers', async () => {
  const plan = await start({ where: HR, change: { delete: true }, dry_run: true });
  expectRun(plan, 'planned', { deleted: 61 });
  const deleted = await decide(app.key, plan.id, 'apply');
  expectRun(deleted, 'completed', { deleted: 61 });
  expect([plan.guards[0].value, await countUsers('managed_by=hr')]).toEqual([61, 0]);
  const restored = await decide(app.key, deleted.id, 'revert');
  expectRun(restored, 'completed', { restored: 61 });
  const [boss, report] = await Promise.all(['p6', 'p7'].map((id) => findUser(app.key, id)));
  expect(report).toMatchObject({ status: 'Active', manager_uuid: boss.uuid });
  expectRun(await decide(app.key, restored.id, 'revert'), 'completed', { deleted: 61 });
});

test('a bulk change follows the rules of the API and rejects changes of Webmasters', async () => {
  await runImport(app.key, csv(HEAD, ...people('q', 3)), 'dataset=q');
  const [q0, q1] = await Promise.all(['q0', 'q1'].map((id) => findUser(app.key, id)));
  const admin = (await app.key.get('/users/search?username=admin')).body.Results[0];
  const uuids = [admin.uuid, q0.uuid, q1.uuid.toUpperCase(), UNKNOWN];
  const errorsOf = async (change: object, more: object = {}, client = app.key) => {
    const run = await start({ uuids, change, dry_run: true, ...more }, client);
    const rows = await rowsOf(app.key, run.id, 'outcome=error');
    return Object.fromEntries(rows.map(({ uuid, errors }) => [uuid, errors[0].code]));
  };
  const missing = { [UNKNOWN]: 'not_found' };
  const refused = { ...missing, [admin.uuid]: 'privileged_user' };
  expect(await errorsOf({ manager_uuid: q0.uuid })).toEqual({ ...missing, [q0.uuid]: 'self_reference' });
  expect(await errorsOf({ delete: true })).toEqual(refused);
  expect(await errorsOf({ status: 'Blocked' })).toEqual(refused);
  const privileged = { allow_privileged: true };
  const last = { ...missing, [admin.uuid]: 'last_webmaster' };
  expect(await errorsOf({ delete: true }, privileged)).toEqual(last);
  const own = await errorsOf({ status: 'Blocked' }, privileged, await app.login());
  expect(own).toEqual({ ...missing, [admin.uuid]: 'self_block' });
  const moved = await start({ uuids, change: { phone: '1', dataset: 'other' } });
  expectRun(moved, 'completed_with_errors', { updated: 3, error: 1 });
  const left = await start({ where: { managed_by: 'other' }, change: { dataset: '' } });
  expectRun(left, 'completed', { updated: 3 });
});

const valid = { where: HR, change: { phone: '1' }, reason };
test.each<[body: object, fields: string[]]>([
  [{ ...valid, where: {} }, ['where']],
  [{ ...valid, where: undefined }, ['where']],
  [{ ...valid, uuids: [UNKNOWN] }, ['where']],
  [{ change: valid.change, uuids: [UNKNOWN, 'x'], reason }, ['uuids']],
  [{ ...valid, where: { statuss: 'Active' } }, ['where.statuss']],
  [{ ...valid, where: { status: ['Gone'] } }, ['where.status']],
  [{ ...valid, change: {} }, ['change']],
  [{ where: HR }, ['change', 'reason']],
  [{ ...valid, reason: ' ' }, ['reason']],
  [{ ...valid, mode: 'upsert' }, ['mode']],
  ...['authname', 'email', 'external_id', 'password', 'password_hash', 'username'].map(
    (name): [object, string[]] => [{ ...valid, change: { [name]: '' } }, [`change.${name}`]],
  ),
  [{ ...valid, change: { dataset: 'scim' } }, ['change.dataset']],
  [{ ...valid, change: { delete: true, phone: '1' } }, ['change.delete']],
  [{ ...valid, change: { delete: false } }, ['change.delete']],
  [{ ...valid, change: { add_roles: ['Nobody'], roles: ['Editor'] } }, ['change.add_roles', 'change.roles']],
  [{ ...valid, change: { add_roles: ['Editor'], remove_roles: ['editor'] } }, ['change.remove_roles']],
  [{ ...valid, change: { manager_uuid: UNKNOWN } }, ['change.manager_uuid']],
])('the bulk change %j is rejected', async (body, fields) => {
  const answer = await app.key.post('/imports', body);
  expect([answer.status, fieldErrorsOf(answer).map(([field]) => field)]).toEqual([422, fields]);
});

test('a bulk change needs users:write and imports:write, and allow_privileged needs webmasters', async () => {
  const statusOf = async (scopes: string[], more = {}) =>
    problemOf(await (await aKey(app, ...scopes)).client.post('/imports', { ...valid, ...more }));
  const missing = [403, 'insufficient_scope'];
  expect(await statusOf(['imports:write'])).toEqual(missing);
  expect(await statusOf(['users:write', 'imports:write:hr'])).toEqual(missing);
  expect(await statusOf(['users:write', 'imports:write'])).toEqual([202, undefined]);
  expect(await statusOf(['users:write', 'imports:write'], { allow_privileged: true })).toEqual(missing);
});
