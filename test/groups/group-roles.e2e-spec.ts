import { beforeEach, describe, expect, test } from '@jest/globals';
import type { UserChange } from '../../src/users/writer/change-set.js';
import { toFailureProblem } from '../../src/users/rules/failure.js';
import { UserCounts } from '../../src/users/writer/user-counts.service.js';
import { setUpApp } from '../support/app/app.js';
import type { Client, Json } from '../support/app/client.js';
import { deletion, writeUsers } from '../support/app/deletion.js';
import { create } from '../support/data/factories.js';
import { PASSWORD, problemOf } from '../support/app/people.js';

/** Roles of groups apply to their members like direct roles. SCIM attributes are stored in addition to the user fields. */
const app = setUpApp();
let user: Json;
let uuid: string;
beforeEach(async () => {
  user = await create(app.key, { password: PASSWORD });
  uuid = user.uuid as string;
});

async function change(patch: UserChange['patch'], of = uuid): Promise<string> {
  const [outcome] = await writeUsers(app, [{ kind: 'update', uuid: of, patch }]);
  return outcome?.outcome === 'error' ? toFailureProblem(outcome.failures).code : (outcome?.outcome ?? '');
}
const read = async (client: Client = app.key): Promise<Json> => (await client.get(`/users/${uuid}`)).body;
const countUsers = async (query: string): Promise<number> =>
  (await app.key.get(`/users/search?${query}`)).body.Count;

describe('group roles', () => {
  test('give permissions to members of the group', async () => {
    const member = await app.login(user.username, PASSWORD);
    expect((await member.get('/audit')).status).toBe(403);
    await change({ group_roles: ['Webmaster'] });
    expect((await member.get('/users/me')).status).toBe(401);
    const master = await app.login(user.username, PASSWORD);
    expect((await master.get('/audit')).status).toBe(200);
    expect((await read(master)).group_roles).toEqual(['Webmaster']);
    await change({ group_roles: [] });
    expect((await master.get('/users/me')).status).toBe(401);
  });

  test('match the role filter without duplicate users', async () => {
    const before = await countUsers('role=Previewer');
    await change({ group_roles: ['Previewer'] });
    await change({ roles: ['Organisational user', 'Previewer'] });
    expect(await countUsers('role=Previewer')).toBe(before + 1);
    await change({ roles: ['Organisational user'] });
    expect(await countUsers('role=Previewer')).toBe(before + 1);
    await change({ group_roles: null });
    expect(await countUsers('role=Previewer')).toBe(before);
  });

  test('obey the same rules as direct roles', async () => {
    const webmasters = await app.app.get(UserCounts).count('webmasters');
    await change({ group_roles: ['Webmaster'] });
    expect(await app.app.get(UserCounts).count('webmasters')).toBe(webmasters + 1);
    const admin = (await app.key.get('/users/search?username=admin')).body.Results[0].uuid as string;
    expect(await change({ status: 'Blocked' }, admin)).toBe('updated');
    expect(await change({ group_roles: [] })).toBe('last_webmaster');
    expect(problemOf(await app.key.put(`/users/${uuid}`, { status: 'Blocked' }))).toEqual([
      409,
      'last_webmaster',
    ]);
    expect(await change({ status: 'Active' }, admin)).toBe('updated');
    expect(problemOf(await app.key.put(`/users/${uuid}`, { roles: ['External user'] }))).toEqual([
      422,
      'validation_failed',
    ]);
    const { body } = await app.key.post('/api_keys', { name: 'narrow', scopes: ['users:write'] });
    const narrow = app.guest.with({ 'x-api-key': body.key as string });
    expect(problemOf(await narrow.put(`/users/${uuid}`, { phone: '1' }))).toEqual([
      403,
      'insufficient_scope',
    ]);
    expect(problemOf(await narrow.delete(`/users/${uuid}/sessions`))).toEqual([403, 'insufficient_scope']);
    await writeUsers(app, [deletion(uuid)]);
    expect(await app.app.get(UserCounts).count('webmasters')).toBe(webmasters);
  });
});

describe('SCIM attributes of a user', () => {
  const attributes = {
    displayName: 'Trillian \u0000 Astra',
    title: 'Navigator',
    emails: [{ value: 'T@b.example' }],
  };

  test('change only if an update names the attribute', async () => {
    expect(await change({ attributes })).toBe('updated');
    expect((await read()).attributes).toEqual(attributes);
    expect(await read(await app.login(user.username, PASSWORD))).not.toHaveProperty('attributes');
    expect(await change({ attributes: { title: null, displayName: 'Tricia' } })).toBe('updated');
    expect((await read()).attributes).toEqual({ displayName: 'Tricia', emails: attributes.emails });
    const audit = (await app.key.get(`/audit?target=${uuid}&field=attributes.title`)).body;
    expect(audit.Count).toBe(2);
    expect(audit.Results[0].changes).toEqual([
      { field: 'attributes.displayName', old: attributes.displayName, new: 'Tricia' },
      { field: 'attributes.title', old: 'Navigator', new: null },
    ]);
    expect(await change({ attributes: { emails: [{ value: 'T@b.example' }] } })).toBe('unchanged');
  });

  test('are ignored in PUT /users/{user_id}', async () => {
    await change({ attributes, group_roles: ['Author'] });
    const before = await read();
    expect((await app.key.put(`/users/${uuid}`, before)).body).toEqual(before);
    const sent = { attributes: 'x', group_roles: [7], phone: '5' };
    expect((await app.key.put(`/users/${uuid}`, sent)).body).toMatchObject({
      attributes,
      group_roles: ['Author'],
      phone: '5',
    });
    const own = await app.login(user.username, PASSWORD);
    expect((await own.put(`/users/${uuid}`, await read(own))).status).toBe(200);
  });

  test('make displayName searchable only for API keys', async () => {
    const term = 'fulltext_search=slartibartfast';
    await change({ attributes: { displayName: 'Slartibartfast' } });
    expect(await countUsers(term)).toBe(1);
    const member = await app.login(user.username, PASSWORD);
    expect((await member.get(`/users/search?${term}`)).body.Count).toBe(0);
    await change({ attributes: null });
    expect(await countUsers(term)).toBe(0);
  });
});
