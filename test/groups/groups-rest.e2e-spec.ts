import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { TestApp } from '../support/app/app.js';
import type { Client, Json } from '../support/app/client.js';
import { create } from '../support/data/factories.js';
import { aGroup } from '../support/app/groups.js';
import { eventsAbout } from '../support/app/audit-rows.js';
import { fieldErrorsOf, problemOf } from '../support/app/people.js';
import { nextOf } from '../support/app/search.js';
import { seedUsers, seededUuid, seededUuids } from '../support/app/seed.js';

const SIZE = 1100;
const UNKNOWN = '00000000-0000-4000-8000-00000000dead';
let app: TestApp;
let key: Client;
beforeAll(async () => {
  app = await TestApp.start();
  ({ key } = app);
  await seedUsers(app, 0, SIZE);
});
afterAll(() => app.end());

async function keyWith(...scopes: string[]): Promise<Client> {
  const { body } = await key.post('/api_keys', { name: 'narrow', scopes });
  return app.nobody.with({ 'x-api-key': body.key as string });
}
const eventsOf = (target: { uuid: string }): Promise<Json[]> => eventsAbout(key, target);

describe('GET /groups', () => {
  let groups: { uuid: string; display_name: string }[];
  let jane: Json;
  beforeAll(async () => {
    jane = await create(key);
    const names = ['ä-list', 'B-list', 'a-list', 'c-list'];
    groups = [];
    for (const [n, display_name] of names.entries())
      groups.push(
        await aGroup(app, {
          display_name,
          ...(n > 1 && { external_id: `ext-${n}` }),
          members: n % 2 ? [jane.uuid] : [],
        }),
      );
  });
  const names = async (query: string) =>
    (await key.get(`/groups?${query}`)).body.Results.map(({ display_name }: Json) => display_name);

  test('has no members, and is sorted by name', async () => {
    const { body } = await key.get('/groups');
    expect(body.Count).toBe(4);
    expect(body.Results.map(({ display_name }: Json) => display_name)).toEqual([
      'a-list',
      'B-list',
      'c-list',
      'ä-list',
    ]);
    expect(Object.keys(body.Results[0])).toEqual([
      'uuid',
      'display_name',
      'external_id',
      'roles',
      'created',
      'updated',
    ]);
  });

  test.each([
    ['display_name=A-LIST', ['a-list']],
    ['external_id=ext-3', ['c-list']],
    ['external_id=EXT-3', []],
    [`user_uuid=${UNKNOWN}`, []],
    ['sort=created', ['ä-list', 'B-list', 'a-list', 'c-list']],
    ['sort=created&order=desc', ['c-list', 'a-list', 'B-list', 'ä-list']],
    ['order=desc&limit=1&offset=1', ['c-list']],
    ['offset=9', []],
  ])('%s', async (query, expected) => {
    expect(await names(query)).toEqual(expected);
  });

  test('of a user', async () => {
    expect(await names(`user_uuid=${(jane.uuid as string).toUpperCase()}`)).toEqual(['B-list', 'c-list']);
  });

  test.each(['display_name', 'created', 'updated'])(
    'is walked by its links in the order of %s',
    async (sort) => {
      for (const order of ['asc', 'desc']) {
        const all = await names(`sort=${sort}&order=${order}`);
        const walked: string[] = [];
        for (let next: string | undefined = `/groups?limit=1&sort=${sort}&order=${order}`; next;) {
          const answer = await key.get(next);
          expect(answer.body.Count).toBe(4);
          walked.push(answer.body.Results[0].display_name);
          next = nextOf(answer);
        }
        expect(walked).toEqual(all);
      }
    },
  );

  test.each(['after=x', 'limit=0', 'sort=roles', 'user_uuid=jane', 'name=x', 'display_name='])(
    '%s is 400',
    async (query) => {
      expect(problemOf(await key.get(`/groups?${query}`))).toEqual([400, 'invalid_parameter']);
    },
  );

  test('a cursor of another order is refused', async () => {
    const next = nextOf(await key.get('/groups?limit=1'))!;
    expect(problemOf(await key.get(`${next}&sort=created`))).toEqual([400, 'invalid_parameter']);
    expect(problemOf(await key.get(`${next}&offset=1`))).toEqual([400, 'invalid_parameter']);
  });
});

describe('GET /groups/{group_id}', () => {
  test('has its members in pages, and their number', async () => {
    const group = await aGroup(app, { members: seededUuids(0, SIZE) });
    const first = await key.get(`/groups/${group.uuid.toUpperCase()}`);
    expect(first.body).toMatchObject({ uuid: group.uuid, member_count: SIZE, roles: [], external_id: '' });
    expect(first.body.members).toEqual(seededUuids(0, 1000));
    const second = await key.get(nextOf(first)!);
    expect(second.body.members).toEqual(seededUuids(1000, SIZE));
    expect(nextOf(second)).toBeUndefined();
    const few = await key.get(`/groups/${group.uuid}?limit=2&after=${seededUuid(4)}`);
    expect(few.body.members).toEqual(seededUuids(5, 7));
  });
});

describe('PUT /groups/{group_id}', () => {
  const path = ({ uuid }: { uuid: string }) => `/groups/${uuid}`;

  test('sets roles in any case, in the order of the catalogue; unchanged ones change nothing', async () => {
    const group = await aGroup(app);
    const { body, headers } = await key.put(path(group), { roles: ['EDITOR', 'author'] });
    expect(body).toMatchObject({ uuid: group.uuid, roles: ['Author', 'Editor'] });
    expect(headers['etag']).toBe('W/"2"');
    const again = await key.put(path(group), { roles: ['Author', 'Editor'] });
    expect([again.body, again.headers['etag']]).toEqual([body, 'W/"2"']);
    expect(await eventsOf(group)).toMatchObject([
      { action: 'group.created' },
      { action: 'group.updated', changes: [{ field: 'roles', old: null, new: ['Author', 'Editor'] }] },
    ]);
    expect((await key.put(path(group), { roles: null })).body.roles).toEqual([]);
  });

  test('takes what GET has returned', async () => {
    const group = await aGroup(app, {
      roles: ['Editor'],
      external_id: 'as-read',
      members: seededUuids(30, 32),
    });
    const { body } = await key.get(path(group));
    const answer = await key.put(path(group), body);
    const { members: _m, member_count: _c, ...rest } = body;
    expect([answer.status, answer.body]).toEqual([200, rest]);
    expect((await key.get(path(group))).body).toEqual(body);
  });

  test.each<[object, string, string]>([
    [{}, 'roles', 'required'],
    [{ roles: 'Editor' }, 'roles', 'invalid_type'],
    [{ roles: ['Nobody'] }, 'roles', 'unknown_role'],
    [{ roles: ['Editor', 'editor'] }, 'roles', 'invalid_value'],
    [{ roles: ['External user', 'Webmaster'] }, 'roles', 'exclusive_roles'],
    [{ roles: [], name: 'x' }, 'name', 'unknown_field'],
    [{ roles: [], uuid: UNKNOWN }, 'uuid', 'uuid_mismatch'],
    [{ roles: [], display_name: 'another' }, 'display_name', 'invalid_value'],
    [{ roles: [], external_id: 'another' }, 'external_id', 'invalid_value'],
  ])('%j is refused', async (body, field, code) => {
    const group = await aGroup(app);
    const answer = await key.put(path(group), body);
    expect([answer.status, ...fieldErrorsOf(answer)]).toEqual([422, [field, code]]);
  });

  test('If-Match, with and without W/', async () => {
    const group = await aGroup(app);
    const put = (tag: string, role: string) => key.put(path(group), { roles: [role] }, { 'if-match': tag });
    expect((await put('W/"1"', 'Editor')).status).toBe(200);
    expect(problemOf(await put('W/"1"', 'Author'))).toEqual([412, 'precondition_failed']);
    expect((await put('"2"', 'Author')).status).toBe(200);
    expect(problemOf(await put('"of another time"', 'Editor'))).toEqual([412, 'precondition_failed']);
    expect((await put('*', 'Editor')).status).toBe(200);
  });

  test('is for operators and keys with webmasters; the scope comes before the group', async () => {
    const group = await aGroup(app);
    const narrow = await keyWith('groups:read', 'groups:write');
    expect((await narrow.get(path(group))).status).toBe(200);
    for (const each of [path(group), `/groups/${UNKNOWN}`]) {
      const refused = await narrow.put(each, { roles: 5 });
      expect(problemOf(refused)).toEqual([403, 'insufficient_scope']);
      expect(refused.body.detail).toContain('webmasters');
    }
    const wide = await keyWith('groups:write', 'webmasters');
    expect((await wide.put(path(group), { roles: ['Webmaster'] })).status).toBe(200);
    expect((await (await app.login()).put(path(group), { roles: [] })).status).toBe(200);
    expect(problemOf(await wide.get(path(group)))).toEqual([403, 'insufficient_scope']);
  });

  test('the order of checks', async () => {
    const group = await aGroup(app);
    expect(problemOf(await key.put(`/groups/${UNKNOWN}`, { roles: 5 }, { 'if-match': '"9"' }))).toEqual([
      404,
      'not_found',
    ]);
    expect(problemOf(await key.put(path(group), { roles: 5 }, { 'if-match': '"9"' }))).toEqual([
      422,
      'validation_failed',
    ]);
    expect(problemOf(await key.put(path(group), { roles: [] }, { 'if-match': '"9"' }))).toEqual([
      412,
      'precondition_failed',
    ]);
  });
});
