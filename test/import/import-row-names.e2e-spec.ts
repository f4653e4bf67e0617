import { beforeEach, describe, expect, test } from '@jest/globals';
import { setUpApp } from '../support/app/app.js';
import type { Client, Json } from '../support/app/client.js';
import { aKey } from '../support/app/credentials.js';
import { create } from '../support/data/factories.js';
import { csv, runImport, findUser, rowsOf, awaitRun } from '../support/app/imports.js';

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
  const run = await runImport(
    app.key,
    csv(HEAD, person('a', 'Ann', 'New'), person('b', '', 'Bee'), person('c', 'Cy', ''), person('d', '', '')),
    'dry_run=true',
  );
  expect(await namesOf(run)).toEqual([
    [toId('a'), 'Ann Old'],
    [toId('b'), toId('b').toLowerCase()],
    [toId('c'), 'Cy'],
    [toId('d'), toId('d').toLowerCase()],
  ]);
  await app.key.post(`/imports/${run.id}/apply`, {});
  const applied = await awaitRun(app.key, run.id);
  expect(applied.state).toBe('completed');
  expect(await namesOf(applied)).toEqual([
    [toId('a'), 'Ann New'],
    [toId('b'), 'Bee'],
    [toId('c'), 'Cy'],
    [toId('d'), toId('d').toLowerCase()],
  ]);
});

test('import rows, audit and history show the usernames of managers', async () => {
  const people = [person('boss', 'Bo', 'Boss'), person('chef', 'Che', 'Chef')];
  await runImport(app.key, csv(HEAD, ...people, person('a', 'Ann', 'Lee', 'boss')));
  const run = await runImport(app.key, csv(HEAD, ...people, person('a', 'Ann', 'Lee', 'chef')));
  const user = await findUser(app.key, toId('a'));
  const [row] = await rowsOf(app.key, run.id);
  const [event] = (await app.key.get(`/audit?target=${user.uuid}`)).body.Results;
  const [past] = (await app.key.get(`/users/${user.uuid}/history`)).body.Results;
  for (const { changes } of [row, event, past])
    expect(changes).toEqual([
      expect.objectContaining({
        field: 'manager_uuid',
        old_name: toId('boss').toLowerCase(),
        new_name: toId('chef').toLowerCase(),
      }),
    ]);
  const bare = await runImport(app.key, csv(HEAD, ...people, person('a', 'Ann', 'Lee')));
  const [cleared] = await rowsOf(app.key, bare.id);
  expect(cleared.changes).toEqual([
    expect.objectContaining({ new: null, old_name: toId('chef').toLowerCase() }),
  ]);
  expect(cleared.changes[0]).not.toHaveProperty('new_name');
});

describe('an API key without users:read', () => {
  const HEADER = 'ExternalId,Username,Email,ForeName,Surname,Phone,Saml,Linkedin,Status';
  const NAMES = Array.from({ length: 12 }, (_, i) => `u${i}`);
  /** Returns a row in which every value starts with `word`, apart from the external id. */
  const row = (word: string, name: string) =>
    [
      toId(name),
      ...[
        `${word}-${toId(name)}`,
        `${word}-${toId(name)}@example.org`,
        `${word}First-${name}`,
        `${word}Last-${name}`,
      ],
      ...[`${word} 030`, `${word}-saml-${toId(name)}`, `https://${word}.example`, 'Active'],
    ].join(',');
  let fresh = '';
  /** Texts of every response about the run that may contain values. */
  const readAll = async (client: Client, { id }: Json): Promise<string[]> => {
    const paths = ['', '/rows?limit=100', '/events', '/failed.csv'].map((path) => `/imports/${id}${path}`);
    const read = [...paths, '/imports?limit=100'].map(async (path) => (await client.get(path)).text);
    return Promise.all(read);
  };
  const keyWith = async (...scopes: string[]) => (await aKey(app, ...scopes)).client;

  beforeEach(async () => {
    await runImport(
      app.key,
      csv(HEADER, ...[...NAMES, 'gone'].map((name) => row('zulu', name))),
      `dataset=${prefix}`,
    );
    for (const name of NAMES.slice(0, 2)) {
      const { uuid } = await findUser(app.key, toId(name));
      const stored = {
        authname: { oidc: [`zulu-oidc-${toId(name)}`] },
        social_media: { twitter: 'https://zulu.tw' },
      };
      expect((await app.key.put(`/users/${uuid}`, stored)).status).toBe(200);
    }
    const taken = `${toId('new')},zulu-${toId('u9')},yoke-${toId('new')}@example.org,yoke,yoke,,,,`;
    const unlinked = await create(app.key, { username: `zulu-unlinked-${prefix}` });
    const clash = `${toId('other')},yoke-${toId('x')},${unlinked.email},yoke,yoke,,,,`;
    fresh = csv(HEADER, ...NAMES.slice(0, 9).map((name) => row('yoke', name)), taken, clash);
  });

  test('sees only lines and codes of a run that another caller started', async () => {
    const reader = await keyWith('imports:read', 'imports:write');
    const run = await runImport(app.key, fresh, `missing=block&dataset=${prefix}`);
    expect(run.state).toBe('needs_approval');
    await app.key.post(`/imports/${run.id}/apply`, {});
    await awaitRun(app.key, run.id);
    const reverted = await reader.post(`/imports/${run.id}/revert`, {});
    await awaitRun(app.key, reverted.body.id);
    for (const { id } of [run, reverted.body]) {
      const texts = await readAll(reader, { id });
      for (const text of [...texts, reverted.text]) expect(text).not.toMatch(/zulu|yoke|P\d+-/);
      expect((await reader.get(`/imports/${id}/failed.csv`)).body.code).toBe('insufficient_scope');
    }
    const { problems } = (await reader.get(`/imports/${run.id}`)).body;
    expect(problems.map(({ line, code }: Json) => [line, code])).toEqual([
      [11, 'username_taken'],
      [12, 'unlinked_conflict'],
    ]);
    expect(JSON.stringify(problems)).not.toContain('uuid');
  });

  test('sees the values that it sent, but no stored values', async () => {
    const sender = await keyWith('imports:read', 'imports:write');
    const run = await runImport(sender, fresh, `missing=block&dataset=${prefix}`);
    const texts = await readAll(sender, run);
    const preview = await sender.send('POST', '/imports/preview', fresh, { 'content-type': 'text/csv' });
    const rejected = await sender.post(`/imports/${run.id}/reject`, {});
    expect(preview.body.rows).toHaveLength(11);
    for (const text of [...texts, preview.text, rejected.text]) {
      expect(text.replaceAll(`zulu-${toId('u9')}`, '')).not.toMatch(/zulu|-gone/);
      expect(text).not.toContain('belongs to user');
    }
    expect(texts[1]).toContain('yokeFirst');
    expect(texts[3]).toContain(`yoke-${toId('new')}@example.org`);
    const [first] = await rowsOf(sender, run.id, `external_id=${toId('u0')}`);
    const { guards } = (await sender.get(`/imports/${run.id}`)).body;
    const [hit] = guards.filter(({ examples }: Json) => examples.length > 0);
    expect(hit.examples[0]).toMatchObject({ line: 2, old: null, new: null });
    expect(first.changes.find(({ field }: Json) => field === 'authname')).toEqual({
      field: 'authname',
      old: null,
      new: { saml: [`yoke-saml-${toId('u0')}`] },
    });
    expect((await app.key.get(`/imports/${run.id}/rows`)).text).toContain('zuluFirst');
  });

  test('can still read the response to its own change of a user', async () => {
    const { uuid } = await findUser(app.key, toId('u0'));
    const { status, body } = await (await keyWith('users:write')).put(`/users/${uuid}`, { phone: '1' });
    expect([status, body.firstname]).toEqual([200, 'zuluFirst-u0']);
  });
});

test('GET /imports/{id}/rows filters rows by external_id', async () => {
  await runImport(
    app.key,
    csv(HEAD, ...['a', 'b', 'c', 'gone'].map((each) => person(each, 'Old', each))),
    'dataset=people',
  );
  const run = await runImport(
    app.key,
    csv(
      HEAD,
      person('a', 'New', 'a'),
      person('b', 'New', 'b'),
      `${toId('c')},,bad,,,`,
      person('new', 'N', 'n'),
    ),
    'dataset=people&missing=report&dry_run=true',
  );
  const findRows = async (...ids: string[]) => {
    const query = ids.map((each) => `external_id=${encodeURIComponent(toId(each))}`).join('&');
    const { body } = await app.key.get(`/imports/${run.id}/rows?${query}`);
    return [body.Count, body.Results.map(({ outcome, external_id }: Json) => [outcome, external_id])];
  };
  expect(await findRows('a')).toEqual([1, [['updated', toId('a')]]]);
  expect(await findRows('c')).toEqual([1, [['error', toId('c')]]]);
  expect(await findRows('new', 'gone', 'a', 'a')).toEqual([
    3,
    [
      ['missing', toId('gone')],
      ['updated', toId('a')],
      ['created', toId('new')],
    ],
  ]);
  expect(await findRows('nobody')).toEqual([0, []]);
  const both = `external_id=${toId('a')}&external_id=${toId('c')}`;
  expect(
    (await rowsOf(app.key, run.id, `${both}&outcome=error`)).map(({ external_id }) => external_id),
  ).toEqual([toId('c')]);
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
  const plan = (await app.key.post(`/imports/${run.id}/revert?dry_run=true`, {})).body;
  await awaitRun(app.key, plan.id);
  const stateOf = async () => (await app.key.get(`/imports/${run.id}`)).body.reverted_by;
  expect(await stateOf()).toBeNull(); // a plan changes nothing
  await app.key.post(`/imports/${plan.id}/reject`, {});
  expect(await stateOf()).toBeNull();
  const revert = (await app.key.post(`/imports/${run.id}/revert`, {})).body;
  expect(await stateOf()).toBe(revert.id);
  await awaitRun(app.key, revert.id);
  expect(await stateOf()).toBe(revert.id);
  const listed = (await app.key.get('/imports?limit=100')).body.Results as Json[];
  expect(listed.find((each) => each.id === run.id)?.reverted_by).toBe(revert.id);
});
