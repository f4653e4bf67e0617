import { beforeAll, describe, expect, test } from '@jest/globals';
import { setUpApp } from '../support/app/app.js';
import { databaseOf } from '../support/app/people.js';
import { create } from '../support/data/factories.js';
import { type Query, createMany, findNames, search } from '../support/app/search.js';

const app = setUpApp({ EXTRA_ROLES: 'Keeper of keys' });
const PHONES = { phone: '+44 (0)20 7946-0958', mobile: '07700 900123' };
let boss = '';

beforeAll(async () => {
  const roles = ['Editor', 'Author'];
  [boss = ''] = await createMany(app.key, [{ username: 'boss', external_id: 'Id 1', roles }]);
  const authname = { saml: ['Jose@IdP', 'j:o:s:e'], oidc: ['7'] };
  const blocked = { status: 'Blocked' };
  const keeper = { username: 'two words', roles: ['Author', 'Keeper of keys'], manager_uuid: boss };
  const uuids = await createMany(app.key, [
    { username: 'José', email: 'Jose@Bücher.example', phone: '12 34', manager_uuid: boss, authname },
    { username: 'Jose', email: 'jose2@example.org', external_id: 'id 1', roles: ['Editor'], ...blocked },
    { ...keeper, external_id: 'É-2', ...blocked },
    { username: 'plain', authname: { ldap: ['Jose@IdP'] }, email: 'jane@plain.example.net', ...PHONES },
  ]);
  const database = databaseOf(app);
  const times = [boss, ...uuids];
  for (const [index, uuid] of times.entries()) {
    const time = `2026-01-0${index + 1} 12:00:00.500`;
    const set = index % 2 ? ', managed_by = ?' : '';
    const dataset = index % 2 ? ['Staff'] : [];
    const sql = `UPDATE users SET created = ?, updated = ?${set} WHERE uuid = ?`;
    await database.execute(sql, [time, time, ...dataset, uuid]);
  }
  // The first Webmaster is older than all other users.
  const old = '2020-01-01 00:00:00.000';
  await database.execute("UPDATE users SET created = ?, updated = ? WHERE username = 'admin'", [old, old]);
});

const BOTH = ['Active', 'Blocked'];
const ALL = ['Jose', 'José', 'admin', 'boss', 'plain', 'two words'];

describe('a search with one filter', () => {
  test.each<[Query, string[]]>([
    [{}, ALL],
    [{ external_id: 'Id 1' }, ['boss']],
    [{ external_id: 'id 1' }, ['Jose']],
    [{ external_id: 'ID 1' }, []],
    [{ external_id: 'Id' }, []],
    [{ external_id: 'E\u0301-2' }, ['two words']],
    [{ external_id: 'E-2' }, []],
    [{ external_id: '%' }, []],
    [{ username: 'josé' }, ['José']],
    [{ username: 'JOSE' }, ['Jose']],
    [{ username: ' two   WORDS ' }, ['two words']],
    [{ username: 'two' }, []],
    [{ username: 'jos_' }, []],
    [{ username: "' OR 1=1 --" }, []],
    [{ email: 'JOSE@bücher.EXAMPLE' }, ['José']],
    [{ email: 'jose' }, []],
    [{ email: '%@example.org' }, []],
    [{ email_domain: 'Plain.Example.NET' }, ['plain']],
    [{ email_domain: 'BU\u0308CHER.example' }, ['José']],
    [{ email_domain: 'bucher.example' }, []],
    [{ email_domain: 'example.net' }, []],
    [{ email_domain: '%.example' }, []],
    [{ phone: '0958' }, ['plain']],
    [{ phone: '7946 0958' }, ['plain']],
    [{ phone: '+44 020 79460958' }, ['plain']],
    [{ phone: '1 44 020 79460958' }, []],
    [{ phone: '7946' }, []],
    [{ phone: '900-123' }, ['plain']],
    [{ phone: '1234' }, ['José']],
    [{ find: '@plain.example.net' }, ['plain']],
    [{ find: '@example' }, []],
    [{ find: '900 123' }, ['plain']],
    [{ find: '+44 020 7946 0958' }, ['plain']],
    [{ find: 'jane@plain.example.net' }, ['plain']],
    [{ find: 'jane@plain.example.ne' }, ['plain']],
    [{ find: 'Id 1' }, ['boss']],
    [{ find: 'id 1' }, ['Jose']],
    [{ find: 'jos' }, ['Jose', 'José']],
    [{ find: 'wo tw' }, ['two words']],
    [{ find: 'wo* t' }, []],
    [{ find: '*' }, []],
    [{ find: 'jo', status: 'Blocked' }, ['Jose']],
    [{ find: '@plain.example.net', email_domain: 'bücher.example' }, []],
    [{ find: 'jos', fulltext_search: 'jose2@example.org' }, ['Jose']],
    [{ status: 'Active' }, ['José', 'admin', 'boss', 'plain']],
    [{ status: 'Blocked' }, ['Jose', 'two words']],
    [{ status: BOTH }, ALL],
    [{ status: ['Blocked', 'Blocked'] }, ['Jose', 'two words']],
    [{ role: 'Editor' }, ['Jose', 'boss']],
    [{ role: 'eDITOR' }, ['Jose', 'boss']],
    [{ role: ['Editor', 'Author'] }, ['Jose', 'boss', 'two words']],
    [{ role: ['webmaster', 'Keeper of Keys'] }, ['admin', 'two words']],
    [{ role: 'Moderator' }, []],
    [{ authname: 'saml:Jose@IdP' }, ['José']],
    [{ authname: 'saml:jose@idp' }, []],
    [{ authname: 'ldap:Jose@IdP' }, ['plain']],
    [{ authname: 'saml:j:o:s:e' }, ['José']],
    [{ authname: 'oidc:7' }, ['José']],
    [{ authname: 'oidc:%' }, []],
    [{ updated_since: '2026-01-04' }, ['plain', 'two words']],
    [{ updated_since: '2026-01-04T12:00:00.500Z' }, ['plain', 'two words']],
    [{ updated_since: '2026-01-04T12:00:00.501Z' }, ['plain']],
    [{ updated_since: '2026-01-04T14:00:00.500+02:00' }, ['plain', 'two words']],
    [{ updated_since: '2999-01-01' }, []],
    [{ created_since: '2026-01-05T12:00:00Z' }, ['plain']],
    [{ created_since: '2026-01-05T12:00:00.501Z' }, []],
    [{ managed_by: 'Staff' }, ['José', 'two words']],
    [{ managed_by: 'Other' }, []],
    [{ has_external_id: true }, ['Jose', 'boss', 'two words']],
    [{ has_external_id: false }, ['José', 'admin', 'plain']],
  ])('%j finds %j', async (query, usernames) => {
    expect(await findNames(app.key, query)).toEqual(usernames);
  });

  test('ignores the letter case of manager_uuid', async () => {
    expect(await findNames(app.key, { manager_uuid: boss })).toEqual(['José', 'two words']);
    expect(await findNames(app.key, { manager_uuid: boss.toUpperCase() })).toEqual(['José', 'two words']);
    expect(await findNames(app.key, { manager_uuid: '00000000-0000-0000-0000-000000000000' })).toEqual([]);
    expect(await findNames(app.key, { find: boss.toUpperCase() })).toEqual(['boss']);
  });
});

describe('a search with several filters', () => {
  test.each<[Query, string[]]>([
    [{ status: 'Blocked', role: 'Editor' }, ['Jose']],
    [{ status: 'Blocked', role: ['Editor', 'Author'] }, ['Jose', 'two words']],
    [{ status: 'Active', username: 'jose' }, []],
    [{ has_external_id: true, external_id: 'id 1', status: BOTH, role: ['Editor', 'Webmaster'] }, ['Jose']],
    [{ has_external_id: false, external_id: 'id 1' }, []],
    [{ fulltext_search: 'jose', status: 'Blocked' }, ['Jose']],
    [{ fulltext_search: 'jose', authname: 'oidc:7' }, ['José']],
    [{ fulltext_search: 'nobody', status: 'Blocked' }, []],
    [{ fulltext_search: '...', status: 'Blocked' }, []],
    [{ updated_since: '2026-01-02', created_since: '2026-01-03', managed_by: 'Staff' }, ['two words']],
    [{ authname: 'saml:Jose@IdP', email: 'jose2@example.org' }, []],
  ])('%j finds %j', async (query, usernames) => {
    expect(await findNames(app.key, query)).toEqual(usernames);
    expect((await search(app.key, { ...query, limit: 1 })).body.Count).toBe(usernames.length);
  });

  test('finds only the user who matches every filter', async () => {
    const query = {
      external_id: 'É-2',
      username: 'two words',
      status: 'Blocked',
      role: 'Author',
      manager_uuid: boss,
      updated_since: '2026-01-01',
      created_since: '2026-01-01',
      managed_by: 'Staff',
      has_external_id: true,
      fulltext_search: 'two wor*',
      sort: 'surname',
      order: 'asc',
      offset: 0,
      limit: 5,
    };
    expect(await findNames(app.key, query)).toEqual(['two words']);
    expect(await findNames(app.key, { ...query, role: 'Editor' })).toEqual([]);
  });
});

test('the times of a user always include milliseconds', async () => {
  const [admin] = (await search(app.key, { username: 'admin' })).body.Results;
  const time = '2020-01-01T00:00:00.000Z';
  expect({ created: admin.created, updated: admin.updated }).toEqual({ created: time, updated: time });
  expect((await app.key.get(`/users/${admin.uuid}`)).body).toEqual(admin);
});

test('a search finds identifiers of 250 emoji', async () => {
  const emoji = '😀'.repeat(250);
  await createMany(app.key, [
    { username: emoji, external_id: emoji, authname: { emoji: [emoji] }, status: 'Blocked' },
  ]);
  for (const query of [{ username: emoji }, { external_id: emoji }, { authname: `emoji:${emoji}` }]) {
    expect(await findNames(app.key, query)).toEqual([emoji]);
  }
});

test('search filters find a changed user only by new values', async () => {
  const manager = await create(app.key);
  const contact = { email: 'old@old.example.org', mobile: '11 22 33' };
  const before = { external_id: 'old-1', authname: { saml: ['old'] }, roles: ['Moderator'], ...contact };
  const [uuid] = await createMany(app.key, [
    { username: 'moving', manager_uuid: manager.uuid as string, ...before },
  ]);
  for (const query of [{ role: 'Moderator' }, { manager_uuid: manager.uuid }]) {
    expect(await findNames(app.key, query)).toEqual(['moving']);
  }
  const changed = {
    external_id: 'new-1',
    authname: { saml: ['new'] },
    roles: ['Previewer'],
    email: 'new@new.example.org',
    mobile: '55 66 77',
    manager_uuid: null,
  };
  expect((await app.key.put(`/users/${uuid}`, changed)).status).toBe(200);
  const old = [{ email_domain: 'old.example.org' }, { phone: '2233' }, { role: 'Moderator' }];
  for (const query of [{ external_id: 'old-1' }, { authname: 'saml:old' }, ...old]) {
    expect(await findNames(app.key, query)).toEqual([]);
  }
  for (const query of [
    { external_id: 'new-1' },
    { authname: 'saml:new' },
    { role: 'Previewer' },
    { email: 'new@new.example.org' },
    { email_domain: 'new.example.org' },
    { phone: '6677' },
  ]) {
    expect(await findNames(app.key, query)).toEqual(['moving']);
  }
  expect(await findNames(app.key, { manager_uuid: manager.uuid })).toEqual([]);
});

test.each(['status=Active', 'role=Editor'])('a search accepts %s up to 100 times', async (one) => {
  const search = async (times: number) => {
    const { status } = await app.key.get(`/users/search?${Array(times).fill(one).join('&')}`);
    return status;
  };
  expect({ 100: await search(100), 101: await search(101) }).toEqual({ 100: 200, 101: 400 });
});
