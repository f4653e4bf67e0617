import { expect, test } from '@jest/globals';
import { fieldsOf } from '../../src/platform/common/fields.js';
import { UserConditions } from '../../src/users/search/user.query.js';
import { setUpApp } from '../support/app/app.js';
import { aroundApply } from '../support/app/around-apply.js';
import type { Json } from '../support/app/client.js';
import { aKey } from '../support/app/credentials.js';
import { awaitRun, csv, decide, expectRun, findUser, rowsOf, runImport } from '../support/app/imports.js';
import { databaseOf, fieldErrorsOf, problemOf } from '../support/app/people.js';
import { UNKNOWN, create } from '../support/data/factories.js';
import { createRandom, pickOne } from '../support/data/random.js';
import { HEAD, people, person } from '../support/data/user-file.js';

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
  const { uuid } = await findUser(app.key, 'p7');
  const [audit] = (await app.key.get(`/audit?target=${uuid}`)).body.Results;
  expect([audit.action, audit.reason]).toEqual(['user.blocked', reason]);
  expectRun(await decide(app.key, applied.id, 'revert'), 'completed', { reactivated: 60 });
  expect(await findUser(app.key, 'p7')).toMatchObject({ status: 'Active', roles: ['Organisational user'] });
});

async function deleteUsers(selection: object): Promise<Json> {
  const plan = await start({ ...selection, change: { delete: true }, dry_run: true });
  return decide(app.key, plan.id, 'apply');
}
async function readStored(dataset: string): Promise<Json[]> {
  const sql = 'SELECT * FROM users WHERE managed_by = ? ORDER BY uuid';
  const rows = await databaseOf(app).query<Json>(sql, [dataset]);
  return rows.map(({ updated: _, version: _version, ...fields }) => fields);
}

test('a bulk deletion counts as deactivation, and its revert restores all fields in a random hierarchy', async () => {
  const random = createRandom(20_261_127);
  const ids = Array.from({ length: 900 }, (_, i) => `r${i}`);
  // Every user reports to a user with a smaller key, or to no user.
  const keys = new Map(ids.map((id) => [id, random(1e9)]));
  const toRow = (id: string): string => {
    const other = pickOne(random, ids);
    const manager = Number(keys.get(other)) < Number(keys.get(id)) ? other : '';
    return person(id, manager, random(10) < 7 ? 'Editor' : '');
  };
  await runImport(app.key, csv(`${HEAD},Manager,Roles`, ...ids.map(toRow)), 'dataset=random');
  const before = await readStored('random');
  const deleted = await deleteUsers({ where: { managed_by: 'random', role: ['Editor'] } });
  const count = deleted.counts.deleted;
  expectRun(deleted, 'completed', { deleted: count });
  expect([deleted.guards[0].value, await countUsers('managed_by=random')]).toEqual([count, 900 - count]);
  let last = deleted;
  for (const outcome of ['restored', 'deleted', 'restored']) {
    last = await decide(app.key, last.id, 'revert');
    expectRun(last, 'completed', { [outcome]: count, updated: last.counts.updated });
  }
  expect(await readStored('random')).toEqual(before);
});

const put = (user: Json, body: object) => app.key.put(`/users/${user.uuid}`, body);
const EXPIRE = "UPDATE deleted_users SET deleted = '2020-01-01 00:00:00.000' WHERE uuid = ?";
const restore = (uuid: string) => app.key.post(`/users/${uuid}/restore`);
async function deleteAgain(uuid: string): Promise<void> {
  await restore(uuid);
  await app.key.delete(`/users/${uuid}`, { 'x-audit-reason': 'left' });
}
const lost = ['boss  changed_since', 'report manager_uuid changed_since'];
/** Users with their managers. The boss and the assistant are deleted. */
const TEAM = { chief: '', boss: 'chief', report: 'boss', assistant: 'boss' };
test.each<[string, (chief: Json, boss: Json, report: Json) => Promise<unknown>, ...results: string[]]>([
  ['the boss is restored', (_, boss) => restore(boss.uuid), 'boss boss'],
  ['the boss is deleted again', (_, boss) => deleteAgain(boss.uuid), 'none none', ...lost],
  ['the boss was deleted long ago', (_, boss) => databaseOf(app).execute(EXPIRE, [boss.uuid]), 'none none', ...lost], // prettier-ignore
  ['the username of the boss is taken', (_, { username }) => create(app.key, { username }), 'none none', 'boss username changed_since', lost[1]!], // prettier-ignore
  ['the report gets another manager', (chief, _, report) => put(report, { manager_uuid: chief.uuid }), 'chief boss', 'report manager_uuid changed_since'], // prettier-ignore
  ['the report is deleted', (_, _boss, { uuid }) => app.key.delete(`/users/${uuid}`), 'none boss', 'report  changed_since'], // prettier-ignore
  ['the chief becomes a report of the report', (chief, _, { uuid }) => put(chief, { manager_uuid: uuid }), 'none boss', 'report manager_uuid changed_since'], // prettier-ignore
])('if %s, the revert of a bulk deletion restores the other values', async (what, change, ...results) => {
  const toId = (name: string): string => name && `${name}-${what.replaceAll(' ', '-')}`;
  const rows = Object.entries(TEAM).map(([name, manager]) => person(toId(name), toId(manager)));
  await runImport(app.key, csv(`${HEAD},Manager`, ...rows));
  const readTeam = () => Promise.all(Object.keys(TEAM).map((name) => findUser(app.key, toId(name))));
  const [chief, boss, report, assistant] = await readTeam();
  const deleted = await deleteUsers({ uuids: [boss.uuid, assistant.uuid] });
  await change(chief, boss, report);
  const { id, problems } = await decide(app.key, deleted.id, 'revert');
  const names = new Map([chief, boss].map(({ uuid, username }) => [uuid, username.split('-')[0]]));
  const managers = (await readTeam()).slice(2).map((user) => names.get(user?.manager_uuid) ?? 'none');
  const conflicts = problems.map((one: Json) => `${one.external_id.split('-')[0]} ${one.field} ${one.code}`);
  expect([managers.join(' '), ...conflicts.sort()]).toEqual(results);
  for (const { message } of problems) expect(message).toMatch(/estore|not reverted/);
  const [{ changes }] = await rowsOf(app.key, id, `external_id=${toId('assistant')}`);
  expect(changes.some(({ field }: Json) => field === 'manager_uuid')).toBe(managers[1] !== 'none');
});

test('a revert restores no user who was deleted again since the reverted run or since its plan', async () => {
  await runImport(app.key, csv(HEAD, ...people('twice', 4)), 'dataset=twice');
  const users = await Promise.all([0, 1, 2, 3].map((i) => findUser(app.key, `twice${i}`)));
  const [a, b, c, d] = users.map(({ uuid }): string => uuid) as [string, string, string, string];
  const first = await deleteUsers({ uuids: [a, b, c, d] });
  await restore(a);
  const second = await deleteUsers({ uuids: [a] });
  const planned = await decide(app.key, first.id, 'revert?dry_run=true');
  expectRun(planned, 'planned', { restored: 3, error: 1 });
  await deleteAgain(b);
  expect((await decide(app.key, planned.id, 'apply')).problems[0].code).toBe('plan_changed');
  aroundApply(app, () => deleteAgain(c));
  const undone = await decide(app.key, first.id, 'revert');
  expectRun(undone, 'completed_with_errors', { restored: 1, error: 3 });
  expect(undone.problems.map(({ code }: Json) => code)).toEqual(Array(3).fill('changed_since'));
  expectRun(await decide(app.key, second.id, 'revert'), 'completed', { restored: 1 });
  const back = await decide(app.key, undone.id, 'revert');
  expectRun(back, 'completed', { deleted: 1 });
  await deleteAgain(d);
  expectRun(await decide(app.key, back.id, 'revert'), 'completed_with_errors', { error: 1 });
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
/** Values that are invalid for every condition. */
const NO_CONDITIONS = [null, [], [null], {}, 5];
const WORDS = 'a b c d e f g h i j k';
const findBy = (name: string, value: unknown): [object, string[]] => [
  { ...valid, where: { ...HR, [name]: value } },
  [`where.${name}`],
];
test.each<[body: object, fields: string[]]>([
  [{ ...valid, where: {} }, ['where']],
  [{ ...valid, where: undefined }, ['where']],
  [{ ...valid, uuids: [UNKNOWN] }, ['where']],
  [{ change: valid.change, uuids: [UNKNOWN, 'x'], reason }, ['uuids']],
  [{ ...valid, where: { statuss: 'Active' } }, ['where.statuss']],
  findBy('status', ['Gone']),
  findBy('role', ['Gone']),
  ...['*', 'a*', WORDS].map((text) => findBy('fulltext_search', text)),
  findBy('find', WORDS),
  ...[...fieldsOf(UserConditions)].flatMap((name) => NO_CONDITIONS.map((value) => findBy(name, value))),
  [{ ...valid, dry_run: null, allow_privileged: null }, ['allow_privileged', 'dry_run']],
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
  [{ ...valid, change: { delete: null } }, ['change.delete']],
  [{ ...valid, change: { add_roles: ['Nobody'], roles: ['Editor'] } }, ['change.add_roles', 'change.roles']],
  [{ ...valid, change: { add_roles: ['Editor'], remove_roles: ['editor'] } }, ['change.remove_roles']],
  [{ ...valid, change: { manager_uuid: UNKNOWN } }, ['change.manager_uuid']],
])('the bulk change %j is rejected', async (body, fields) => {
  const answer = await app.key.post('/imports', body);
  expect([answer.status, fieldErrorsOf(answer).map(([field]) => field)]).toEqual([422, fields]);
});

test.each<unknown>(['x'.repeat(9000), { length: 5 }, 5])('uuids must be a list: case %#', async (uuids) => {
  const answer = await app.key.post('/imports', { uuids, change: valid.change, reason });
  expect(fieldErrorsOf(answer)).toEqual([['uuids', 'invalid_type']]);
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
