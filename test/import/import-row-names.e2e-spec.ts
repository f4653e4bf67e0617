import { beforeEach, describe, expect, test } from '@jest/globals';
import { setUpApp } from '../support/app/app.js';
import type { Client, Json } from '../support/app/client.js';
import { aKey } from '../support/app/credentials.js';
import { create } from '../support/data/factories.js';
import {
  awaitRun,
  csv,
  decide,
  findUser,
  readRun,
  rowsOf,
  runImport,
  sendPreview,
} from '../support/app/imports.js';

/** Names of users in the rows of a run, the filter by external id, and the link to the revert of a run. */
const app = setUpApp();
let n = 0;
let prefix = '';
beforeEach(() => void (prefix = `P${++n}`));

const HEAD = 'ExternalId,Username,Email,ForeName,Surname,Manager';
const toId = (name: string) => `${prefix}-${name}`;
const person = (name: string, first: string, last: string, manager = '', id = toId(name)) =>
  [id, id.toLowerCase(), `${id}@example.org`, first, last, manager && toId(manager)].join(',');
const namesOf = async (run: Json, query?: string) =>
  (await rowsOf(app.key, run.id, query)).map(({ external_id, name }) => [external_id, name]);

test('an import row shows the current name of the user', async () => {
  await runImport(app.key, csv(HEAD, person('a', 'Ann', 'Old'), person('b', '', '')));
  const rows = [
    person('a', 'Ann', 'New'),
    person('b', '', 'Bee'),
    person('c', 'Cy', ''),
    person('d', '', ''),
  ];
  const run = await runImport(app.key, csv(HEAD, ...rows), 'dry_run=true');
  const nameAll = (...names: string[]) => ['a', 'b', 'c', 'd'].map((id, i) => [toId(id), names[i]]);
  const [b, d] = [toId('b').toLowerCase(), toId('d').toLowerCase()];
  expect(await namesOf(run)).toEqual(nameAll('Ann Old', b, 'Cy', d));
  const applied = await decide(app.key, run.id, 'apply');
  expect(applied.state).toBe('completed');
  expect(await namesOf(applied)).toEqual(nameAll('Ann New', 'Bee', 'Cy', d));
});

test('import rows and audit events show the usernames of managers', async () => {
  const people = [person('boss', 'Bo', 'Boss'), person('chef', 'Che', 'Chef')];
  const [boss, chef] = [toId('boss').toLowerCase(), toId('chef').toLowerCase()];
  await runImport(app.key, csv(HEAD, ...people, person('a', 'Ann', 'Lee', 'boss')));
  const run = await runImport(app.key, csv(HEAD, ...people, person('a', 'Ann', 'Lee', 'chef')));
  const user = await findUser(app.key, toId('a'));
  const [row] = await rowsOf(app.key, run.id);
  const [event] = (await app.key.get(`/audit?target=${user.uuid}`)).body.Results;
  for (const { changes } of [row, event])
    expect(changes).toMatchObject([{ field: 'manager_uuid', old_name: boss, new_name: chef }]);
  const bare = await runImport(app.key, csv(HEAD, ...people, person('a', 'Ann', 'Lee')));
  const [cleared] = await rowsOf(app.key, bare.id);
  expect(cleared.changes).toMatchObject([{ new: null, old_name: chef }]);
  expect(cleared.changes[0]).not.toHaveProperty('new_name');
});

describe('an API key without users:read', () => {
  const NAMES = Array.from({ length: 12 }, (_, i) => `u${i}`);
  /** Returns a row in which every value starts with `word`, apart from the external id. */
  const row = (word: string, name: string, username = `${word}-${toId(name)}`) =>
    `${toId(name)},${username},${username}@example.org,${word}${name},${word}-${toId(name)},https://${word}.example`;
  const toFile = (...rows: string[]) => csv('ExternalId,Username,Email,ForeName,Saml,Linkedin', ...rows);
  const SCOPES = ['imports:read', 'imports:write', 'users:write'];
  let key: Client;
  let fresh: string;
  beforeEach(async () => {
    key = (await aKey(app, ...SCOPES)).client;
    await runImport(app.key, toFile(...NAMES.map((name) => row('zulu', name))), `dataset=${prefix}`);
    const stored = { authname: { oidc: [`zulu-${prefix}`] }, social_media: { twitter: 'https://zulu.tw' } };
    const { uuid } = await findUser(app.key, toId('u0'));
    const changed = await (await aKey(app, 'users:write')).client.put(`/users/${uuid}`, stored);
    expect(changed.body.firstname).toBe('zuluu0'); // a response to a change still shows the user
    await create(app.key, { username: `yoke-${toId('y')}` });
    const clashes = [row('yoke', 'x', `zulu-${toId('u9')}`), row('yoke', 'y')];
    fresh = toFile(...NAMES.slice(0, 9).map((name) => row('yoke', name)), ...clashes);
  });
  /** Reads every response about a run that may contain values. */
  const readAll = async ({ id }: Json): Promise<string[]> => {
    const paths = ['', '/rows?limit=100', '/events', '/failed.csv'].map((path) => `/imports/${id}${path}`);
    return Promise.all([...paths, '/imports'].map(async (path) => (await key.get(path)).text));
  };

  test('sees only lines and codes of a run that another caller started', async () => {
    const run = await runImport(app.key, fresh, `missing=block&dataset=${prefix}`);
    const waiting = await readAll(run);
    await decide(app.key, run.id, 'apply');
    const started = await key.post(`/imports/${run.id}/revert`);
    const revert = await awaitRun(app.key, started.body.id);
    const sent = { where: { find: toId('u0') }, change: { surname: 'zulu' }, reason: 'zulu' };
    const { client } = await aKey(app, ...SCOPES);
    const bulk = await awaitRun(client, (await client.post('/imports', sent)).body.id);
    expect(bulk).toMatchObject(sent);
    const bulkRevert = await decide(key, bulk.id, 'revert');
    const runs = await Promise.all([run, revert, bulk, bulkRevert].map(readAll));
    for (const text of [...waiting, ...runs.flat(), started.text])
      expect(text).not.toMatch(/zulu|yoke|P\d+-/);
    for (const { id } of [run, revert])
      for (const path of ['failed.csv', `rows?external_id=${toId('u0')}`])
        expect((await key.get(`/imports/${id}/${path}`)).body.code).toBe('insufficient_scope');
    const { problems, guards } = await readRun(key, run.id);
    const conflicts = problems.map(({ line, code, uuid }: Json) => [line, code, uuid]);
    expect(conflicts).toContainEqual([11, 'username_taken', undefined]);
    expect(conflicts).toContainEqual([12, 'unlinked_conflict', undefined]);
    const hidden = { line: 2, external_id: '', name: '', old: null, new: null };
    expect(guards.flatMap(({ examples }: Json) => examples)).toContainEqual(hidden);
  });

  test('sees the values that it sent, but no stored values', async () => {
    const run = await runImport(key, fresh, `missing=block&dataset=${prefix}`);
    const preview = await sendPreview(key, fresh);
    const texts = await readAll(run);
    const rejected = await key.post(`/imports/${run.id}/reject`, {});
    for (const text of [...texts, preview.text, rejected.text])
      expect(text.replaceAll(`zulu-${toId('u9')}`, '')).not.toMatch(/zulu|-u1[01]|belongs to user/);
    expect(texts[3]).toContain(`yoke-${toId('y')}@example.org`);
    expect(await rowsOf(app.key, run.id, `external_id=${toId('u11')}`)).toHaveLength(1);
    expect(await rowsOf(key, run.id, `external_id=${toId('u11')}`)).toEqual([]);
    const [first] = await rowsOf(key, run.id, `external_id=${toId('u0')}`);
    expect(first.changes).toContainEqual({ field: 'firstname', old: null, new: 'yokeu0' });
    const saml = [`yoke-${toId('u0')}`];
    expect(first.changes).toContainEqual({ field: 'authname', old: null, new: { saml } });
    expect((await app.key.get(`/imports/${run.id}/rows`)).text).toContain('zuluu0');
  });
});

test('GET /imports/{id}/rows filters rows by external_id', async () => {
  const old = ['a', 'b', 'c', 'gone'].map((each) => person(each, 'Old', each));
  await runImport(app.key, csv(HEAD, ...old), 'dataset=people');
  const changed = [person('a', 'New', 'a'), person('b', 'New', 'b')];
  const file = csv(HEAD, ...changed, `${toId('c')},,bad,,,`, person('new', 'N', 'n'));
  const run = await runImport(app.key, file, 'dataset=people&missing=report&dry_run=true');
  const findRows = async (...ids: string[]) => {
    const query = ids.map((each) => `external_id=${encodeURIComponent(toId(each))}`).join('&');
    const { body } = await app.key.get(`/imports/${run.id}/rows?${query}`);
    return [body.Count, body.Results.map(({ outcome, external_id }: Json) => [outcome, external_id])];
  };
  expect(await findRows('a')).toEqual([1, [['updated', toId('a')]]]);
  expect(await findRows('c')).toEqual([1, [['error', toId('c')]]]);
  const missing = ['missing', toId('gone')];
  const created = ['created', toId('new')];
  expect(await findRows('new', 'gone', 'a', 'a')).toEqual([3, [missing, ['updated', toId('a')], created]]);
  expect(await findRows('nobody')).toEqual([0, []]);
  const both = `external_id=${toId('a')}&external_id=${toId('c')}`;
  const [failed, ...others] = await rowsOf(app.key, run.id, `${both}&outcome=error`);
  expect([failed.external_id, others]).toEqual([toId('c'), []]);
  expect(await rowsOf(app.key, run.id, `${both}&code=no_such_code`)).toEqual([]);
  const page = await app.key.get(`/imports/${run.id}/rows?${both}&limit=1`);
  expect(page.body).toMatchObject({ Count: 2, Results: [{ external_id: toId('a') }] });
  expect(page.headers['link']).toContain('after=');
  for (const wrong of ['', 'x'.repeat(256)])
    expect((await app.key.get(`/imports/${run.id}/rows?external_id=${wrong}`)).body).toMatchObject({
      code: 'invalid_parameter',
    });
});

test('reverted_by of an import is the id of the revert', async () => {
  const run = await runImport(app.key, csv(HEAD, person('a', 'Ann', 'Lee')));
  expect(run.reverted_by).toBeNull();
  const planRevert = () => decide(app.key, run.id, 'revert?dry_run=true');
  const [plan, outdated] = [await planRevert(), await planRevert()];
  const stateOf = async () => (await readRun(app.key, run.id)).reverted_by;
  expect(await stateOf()).toBeNull(); // a plan changes nothing
  await decide(app.key, plan.id, 'reject');
  expect(await stateOf()).toBeNull();
  const revert = (await app.key.post(`/imports/${run.id}/revert`)).body;
  expect(await stateOf()).toBe(revert.id);
  await awaitRun(app.key, revert.id);
  expect(await stateOf()).toBe(revert.id);
  expect((await decide(app.key, outdated.id, 'apply')).state).toBe('superseded');
  const listed = (await app.key.get('/imports?limit=100')).body.Results as Json[];
  expect(listed.find((each) => each.id === run.id)?.reverted_by).toBe(revert.id);
});
