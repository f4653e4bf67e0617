import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { TestApp } from '../support/app/app.js';
import type { Json } from '../support/app/client.js';
import { csv, imported, linked, rowsOf, settled } from '../support/app/imports.js';

/** The people in a plan: what they are called, where one of them is, and who has undone the run. */
let app: TestApp;
let n = 0;
let prefix = '';
beforeAll(async () => void (app = await TestApp.start()));
afterAll(async () => app.end());
beforeEach(() => void (prefix = `P${++n}`));

const HEAD = 'ExternalId,Username,Email,ForeName,Surname,Manager';
const id = (name: string) => `${prefix}-${name}`;
const person = (name: string, first: string, last: string, manager = '') =>
  [id(name), id(name).toLowerCase(), `${id(name)}@example.org`, first, last, manager && id(manager)].join(
    ',',
  );
const names = async (run: Json, query?: string) =>
  (await rowsOf(app.key, run.id, query)).map(({ external_id, name }) => [external_id, name]);

test('a row has the name of its user: of a plan the one of today, of a new user the one of the row', async () => {
  await imported(app.key, csv(HEAD, person('a', 'Ann', 'Old'), person('b', '', '')));
  const run = await imported(
    app.key,
    csv(HEAD, person('a', 'Ann', 'New'), person('b', '', 'Bee'), person('c', 'Cy', ''), person('d', '', '')),
    'dry_run=true',
  );
  expect(await names(run)).toEqual([
    [id('a'), 'Ann Old'],
    [id('b'), id('b').toLowerCase()],
    [id('c'), 'Cy'],
    [id('d'), id('d').toLowerCase()],
  ]);
  await app.key.post(`/imports/${run.id}/apply`, {});
  const applied = await settled(app.key, run.id);
  expect(applied.state).toBe('completed');
  expect(await names(applied)).toEqual([
    [id('a'), 'Ann New'],
    [id('b'), 'Bee'],
    [id('c'), 'Cy'],
    [id('d'), id('d').toLowerCase()],
  ]);
});

test('a change of the manager has both usernames, in the plan, the audit and the history', async () => {
  const people = [person('boss', 'Bo', 'Boss'), person('chef', 'Che', 'Chef')];
  await imported(app.key, csv(HEAD, ...people, person('a', 'Ann', 'Lee', 'boss')));
  const run = await imported(app.key, csv(HEAD, ...people, person('a', 'Ann', 'Lee', 'chef')));
  const user = await linked(app.key, id('a'));
  const [row] = await rowsOf(app.key, run.id);
  const [event] = (await app.key.get(`/audit?target=${user.uuid}`)).body.Results;
  const [past] = (await app.key.get(`/users/${user.uuid}/history`)).body.Results;
  for (const { changes } of [row, event, past])
    expect(changes).toEqual([
      expect.objectContaining({
        field: 'manager_uuid',
        old_name: id('boss').toLowerCase(),
        new_name: id('chef').toLowerCase(),
      }),
    ]);
  const bare = await imported(app.key, csv(HEAD, ...people, person('a', 'Ann', 'Lee')));
  const [gone] = await rowsOf(app.key, bare.id);
  expect(gone.changes).toEqual([expect.objectContaining({ new: null, old_name: id('chef').toLowerCase() })]);
  expect(gone.changes[0]).not.toHaveProperty('new_name');
});

test('a key that may not read users learns no names of them', async () => {
  await imported(app.key, csv(HEAD, person('boss', 'Bo', 'Boss'), person('a', 'Ann', 'Lee', 'boss')));
  const run = await imported(app.key, csv(HEAD, person('boss', 'Bo', 'Boss'), person('a', 'Eve', 'Lee')));
  const made = (await app.key.post('/api_keys', { name: 'reader', scopes: ['imports:read'] })).body;
  const rows = await rowsOf(app.nobody.with({ 'x-api-key': made.key }), run.id);
  expect(rows.map(({ name }) => name)).toEqual(['']);
  expect(JSON.stringify(rows)).not.toContain('_name"');
});

test('the rows of some people are found by their external ids, whatever became of them', async () => {
  await imported(
    app.key,
    csv(HEAD, ...['a', 'b', 'c', 'gone'].map((each) => person(each, 'Old', each))),
    'dataset=people',
  );
  const run = await imported(
    app.key,
    csv(
      HEAD,
      person('a', 'New', 'a'),
      person('b', 'New', 'b'),
      `${id('c')},,bad,,,`,
      person('new', 'N', 'n'),
    ),
    'dataset=people&missing=report&dry_run=true',
  );
  const found = async (...wanted: string[]) => {
    const query = wanted.map((each) => `external_id=${encodeURIComponent(id(each))}`).join('&');
    const { body } = await app.key.get(`/imports/${run.id}/rows?${query}`);
    return [body.Count, body.Results.map(({ outcome, external_id }: Json) => [outcome, external_id])];
  };
  expect(await found('a')).toEqual([1, [['updated', id('a')]]]);
  expect(await found('c')).toEqual([1, [['error', id('c')]]]);
  expect(await found('new', 'gone', 'a', 'a')).toEqual([
    3,
    [
      ['missing', id('gone')],
      ['updated', id('a')],
      ['created', id('new')],
    ],
  ]);
  expect(await found('nobody')).toEqual([0, []]);
  const both = `external_id=${id('a')}&external_id=${id('c')}`;
  expect(
    (await rowsOf(app.key, run.id, `${both}&outcome=error`)).map(({ external_id }) => external_id),
  ).toEqual([id('c')]);
  expect(await rowsOf(app.key, run.id, `${both}&code=no_such_code`)).toEqual([]);
  const walked = await app.key.get(`/imports/${run.id}/rows?${both}&limit=1`);
  expect(walked.body).toMatchObject({ Count: 2, Results: [{ external_id: id('a') }] });
  expect(walked.headers['link']).toContain('after=');
  for (const wrong of ['', 'x'.repeat(256)])
    expect((await app.key.get(`/imports/${run.id}/rows?external_id=${wrong}`)).body).toMatchObject({
      code: 'invalid_parameter',
    });
});

test('a run says which one has undone it, and no longer when that one was refused', async () => {
  const run = await imported(app.key, csv(HEAD, person('a', 'Ann', 'Lee')));
  expect(run.reverted_by).toBeNull();
  const plan = (await app.key.post(`/imports/${run.id}/revert?dry_run=true`, {})).body;
  await settled(app.key, plan.id);
  const stateOf = async () => (await app.key.get(`/imports/${run.id}`)).body.reverted_by;
  expect(await stateOf()).toBeNull(); // a plan has undone nothing
  await app.key.post(`/imports/${plan.id}/reject`, {});
  expect(await stateOf()).toBeNull();
  const revert = (await app.key.post(`/imports/${run.id}/revert`, {})).body;
  expect(await stateOf()).toBe(revert.id);
  await settled(app.key, revert.id);
  expect(await stateOf()).toBe(revert.id);
  const listed = (await app.key.get('/imports?limit=100')).body.Results as Json[];
  expect(listed.find((each) => each.id === run.id)?.reverted_by).toBe(revert.id);
});
