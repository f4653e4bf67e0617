import { beforeAll, describe, expect, test } from '@jest/globals';
import { setUpApp } from '../support/app/app.js';
import type { Json } from '../support/app/client.js';
import { aKey } from '../support/app/credentials.js';
import { UNKNOWN, create } from '../support/data/factories.js';
import { aGroup } from '../support/app/groups.js';
import { listEvents } from '../support/app/audit-rows.js';
import { fieldErrorsOf, problemOf } from '../support/app/people.js';
import { nextOf } from '../support/app/search.js';
import { seedUsers, seededUuid, seededUuids } from '../support/app/seed.js';

const SIZE = 1100;
const app = setUpApp();
beforeAll(() => seedUsers(app, 0, SIZE));

describe('GET /groups', () => {
  let groups: { uuid: string; display_name: string }[];
  let jane: Json;
  beforeAll(async () => {
    jane = await create(app.key);
    groups = [];
    for (const [n, display_name] of ['ä-list', 'B-list', 'a-list', 'c-list'].entries())
      groups.push(
        await aGroup(app, {
          display_name,
          ...(n > 1 && { external_id: `ext-${n}` }),
          members: n % 2 ? [jane.uuid] : [],
        }),
      );
  });
  const readNames = async (query: string) =>
    (await app.key.get(`/groups?${query}`)).body.Results.map(({ display_name }: Json) => display_name);

  test('lists all groups by name but omits members', async () => {
    const { body } = await app.key.get('/groups');
    expect(body.Count).toBe(4);
    expect(await readNames('')).toEqual(['a-list', 'B-list', 'c-list', 'ä-list']);
    expect(Object.keys(body.Results[0]).join()).toBe('uuid,display_name,external_id,roles,created,updated');
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
  ])('with %s returns the matching groups in order', async (query, expected) => {
    expect(await readNames(query)).toEqual(expected);
  });

  test('accepts user_uuid in upper case', async () => {
    expect(await readNames(`user_uuid=${(jane.uuid as string).toUpperCase()}`)).toEqual(['B-list', 'c-list']);
  });

  test.each(['display_name', 'created', 'updated'])(
    'with sort=%s returns every group once across pages',
    async (sort) => {
      for (const order of ['asc', 'desc']) {
        const all = await readNames(`sort=${sort}&order=${order}`);
        const walked: string[] = [];
        for (let next: string | undefined = `/groups?limit=1&sort=${sort}&order=${order}`; next;) {
          const answer = await app.key.get(next);
          expect(answer.body.Count).toBe(4);
          walked.push(answer.body.Results[0].display_name);
          next = nextOf(answer);
        }
        expect(walked).toEqual(all);
      }
    },
  );

  test.each(['after=x', 'limit=0', 'sort=roles', 'user_uuid=jane', 'name=x', 'display_name='])(
    'returns 400 for %s',
    async (query) => {
      expect(problemOf(await app.key.get(`/groups?${query}`))).toEqual([400, 'invalid_parameter']);
    },
  );

  test('returns 400 for a cursor with another sort order', async () => {
    const next = nextOf(await app.key.get('/groups?limit=1'))!;
    expect(problemOf(await app.key.get(`${next}&sort=created`))).toEqual([400, 'invalid_parameter']);
    expect(problemOf(await app.key.get(`${next}&offset=1`))).toEqual([400, 'invalid_parameter']);
  });
});

describe('GET /groups/{group_id}', () => {
  test('returns the members in pages', async () => {
    const group = await aGroup(app, { members: seededUuids(0, SIZE) });
    const first = await app.key.get(`/groups/${group.uuid.toUpperCase()}`);
    expect(first.body).toMatchObject({ uuid: group.uuid, member_count: SIZE, roles: [], external_id: '' });
    expect(first.body.members).toEqual(seededUuids(0, 1000));
    const second = await app.key.get(nextOf(first)!);
    expect(second.body.members).toEqual(seededUuids(1000, SIZE));
    expect(nextOf(second)).toBeUndefined();
    const few = await app.key.get(`/groups/${group.uuid}?limit=2&after=${seededUuid(4)}`);
    expect(few.body.members).toEqual(seededUuids(5, 7));
  });
});

describe('PUT /groups/{group_id}', () => {
  const pathOf = ({ uuid }: { uuid: string }) => `/groups/${uuid}`;

  test('accepts roles in upper or lower case', async () => {
    const group = await aGroup(app);
    const { body, headers } = await app.key.put(pathOf(group), { roles: ['EDITOR', 'author'] });
    expect(body).toMatchObject({ uuid: group.uuid, roles: ['Author', 'Editor'] });
    expect(headers['etag']).toBe('W/"2"');
    const again = await app.key.put(pathOf(group), { roles: ['Author', 'Editor'] });
    expect([again.body, again.headers['etag']]).toEqual([body, 'W/"2"']);
    expect(await listEvents(app.key, group)).toMatchObject([
      { action: 'group.created' },
      { action: 'group.updated', changes: [{ field: 'roles', old: null, new: ['Author', 'Editor'] }] },
    ]);
    expect((await app.key.put(pathOf(group), { roles: null })).body.roles).toEqual([]);
  });

  test('accepts the response of GET as its body', async () => {
    const group = await aGroup(app, {
      roles: ['Editor'],
      external_id: 'as-read',
      members: seededUuids(30, 32),
    });
    const { body } = await app.key.get(pathOf(group));
    const answer = await app.key.put(pathOf(group), body);
    const { members: _m, member_count: _c, ...rest } = body;
    expect([answer.status, answer.body]).toEqual([200, rest]);
    expect((await app.key.get(pathOf(group))).body).toEqual(body);
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
  ])('returns 422 for %j', async (body, field, code) => {
    const answer = await app.key.put(pathOf(await aGroup(app)), body);
    expect([answer.status, ...fieldErrorsOf(answer)]).toEqual([422, [field, code]]);
  });

  test('returns 412 unless If-Match has the current ETag', async () => {
    const group = await aGroup(app);
    const put = (tag: string, role: string) =>
      app.key.put(pathOf(group), { roles: [role] }, { 'if-match': tag });
    expect((await put('W/"1"', 'Editor')).status).toBe(200);
    expect(problemOf(await put('W/"1"', 'Author'))).toEqual([412, 'precondition_failed']);
    expect((await put('"2"', 'Author')).status).toBe(200);
    expect(problemOf(await put('"of another time"', 'Editor'))).toEqual([412, 'precondition_failed']);
    expect((await put('*', 'Editor')).status).toBe(200);
  });

  test('without the webmasters scope returns 403', async () => {
    const group = await aGroup(app);
    const { client: narrow } = await aKey(app, 'groups:read', 'groups:write');
    expect((await narrow.get(pathOf(group))).status).toBe(200);
    for (const each of [pathOf(group), `/groups/${UNKNOWN}`]) {
      const refused = await narrow.put(each, { roles: 5 });
      expect(problemOf(refused)).toEqual([403, 'insufficient_scope']);
      expect(refused.body.detail).toContain('webmasters');
    }
    const { client: wide } = await aKey(app, 'groups:write', 'webmasters');
    expect((await wide.put(pathOf(group), { roles: ['Webmaster'] })).status).toBe(200);
    expect((await (await app.login()).put(pathOf(group), { roles: [] })).status).toBe(200);
    expect(problemOf(await wide.get(pathOf(group)))).toEqual([403, 'insufficient_scope']);
  });

  test('reports an unknown group before an invalid body', async () => {
    const group = await aGroup(app);
    expect(problemOf(await app.key.put(`/groups/${UNKNOWN}`, { roles: 5 }, { 'if-match': '"9"' }))).toEqual([
      404,
      'not_found',
    ]);
    expect(problemOf(await app.key.put(pathOf(group), { roles: 5 }, { 'if-match': '"9"' }))).toEqual([
      422,
      'validation_failed',
    ]);
    expect(problemOf(await app.key.put(pathOf(group), { roles: [] }, { 'if-match': '"9"' }))).toEqual([
      412,
      'precondition_failed',
    ]);
  });
});
