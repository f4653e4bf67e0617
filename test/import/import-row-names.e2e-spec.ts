import { beforeEach, expect, test } from '@jest/globals';
import { setUpApp } from '../support/app/app.js';
import type { Json } from '../support/app/client.js';
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

test('an API key without users:read sees no names in import rows', async () => {
  await runImport(app.key, csv(HEAD, person('boss', 'Bo', 'Boss'), person('a', 'Ann', 'Lee', 'boss')));
  const run = await runImport(app.key, csv(HEAD, person('boss', 'Bo', 'Boss'), person('a', 'Eve', 'Lee')));
  const created = (await app.key.post('/api_keys', { name: 'reader', scopes: ['imports:read'] })).body;
  const rows = await rowsOf(app.guest.with({ 'x-api-key': created.key }), run.id);
  expect(rows.map(({ name }) => name)).toEqual(['']);
  expect(JSON.stringify(rows)).not.toContain('_name"');
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
