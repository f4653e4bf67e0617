import { describe, expect, test } from '@jest/globals';
import { setUpApp } from '../support/app/app.js';
import type { Json } from '../support/app/client.js';
import { problemOf } from '../support/app/people.js';
import { aUser, create } from '../support/data/factories.js';

/** `authname` and `social_media` are changed member by member. */
const app = setUpApp();

const put = async (user: Json, body: object): Promise<Json> =>
  (await app.key.put(`/users/${user.uuid}`, body)).body;

describe('authname in a PUT', () => {
  test('replaces only the names of the sent providers', async () => {
    const user = await create(app.key, { authname: { saml: ['a1', 'a2'], ldap: ['b'] } });
    const changed = { saml: ['a3'], ldap: ['b'] };
    expect((await put(user, { authname: { saml: ['a3'] } })).authname).toEqual(changed);
    const added = { authname: { kerberos: ['k'] } };
    expect((await put(user, added)).authname).toEqual({ ...changed, kerberos: ['k'] });
  });

  test('removes a provider whose list is empty', async () => {
    const user = await create(app.key, { authname: { saml: ['c'], ldap: ['d'] } });
    expect((await put(user, { authname: { saml: [] } })).authname).toEqual({ ldap: ['d'] });
    expect((await put(user, { authname: { saml: [] } })).authname).toEqual({ ldap: ['d'] });
    expect((await put(user, { authname: { ldap: [] } })).authname).toEqual({});
  });

  test('frees removed names for other users', async () => {
    await put(await create(app.key, { authname: { saml: ['e', 'f'] } }), { authname: { saml: ['f', 'g'] } });
    expect((await create(app.key, { authname: { saml: ['e'] } })).authname).toEqual({ saml: ['e'] });
    for (const name of ['f', 'g']) {
      const answer = await app.key.post('/users', aUser({ authname: { saml: [name] } }));
      expect(problemOf(answer)).toEqual([409, 'authname_taken']);
    }
  });

  test.each(['constructor', '__proto__', 'valueof', '0', '-', '_'])(
    'may contain a provider named %s',
    async (method) => {
      const authname = JSON.parse(`{"${method}": ["name"]}`) as object;
      const user = await create(app.key, { authname });
      expect(JSON.stringify(user.authname)).toBe(JSON.stringify(authname));
      const saml = [`x${method}`];
      expect(JSON.stringify((await put(user, { authname: { saml } })).authname)).toContain(`"${method}"`);
      const removed = JSON.parse(`{"${method}": []}`) as object;
      expect((await put(user, { authname: removed })).authname).toEqual({ saml });
    },
  );
});

describe('social_media in a PUT', () => {
  const [a, b, c] = ['https://example.org/a', 'http://intranet/b', 'https://example.org/c'];

  test('replaces only the sent networks', async () => {
    const user = await create(app.key, { social_media: { facebook: a, linkedin: b } });
    expect(user.social_media).toEqual({ facebook: a, linkedin: b, twitter: '' });
    const changed = { facebook: a, linkedin: c, twitter: '' };
    expect((await put(user, { social_media: { linkedin: c } })).social_media).toEqual(changed);
  });

  test('removes a network whose text is empty', async () => {
    const user = await create(app.key, { social_media: { facebook: a, twitter: b } });
    const left = { facebook: '', linkedin: '', twitter: b };
    expect((await put(user, { social_media: { facebook: '' } })).social_media).toEqual(left);
    expect((await put(user, { social_media: { twitter: '' } })).social_media).toEqual({});
  });
});
