import { describe, expect, test } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { setUpApp } from '../support/app/app.js';
import type { Json } from '../support/app/client.js';
import { aUser, create } from '../support/data/factories.js';

const app = setUpApp();

const createTag = () => randomBytes(5).toString('hex');

/** Equality of names is tested in `unit/comparison-keys`. These names could be compared differently by a database collation. */

const toConflict = (field: string, { uuid, username }: Json) => ({ field, uuid, username, name: '' });

/** Expects a POST and a PUT with the wanted values to return 409 with the UUID of the holder, and to change nothing. */
async function expectTaken(
  held: Record<string, unknown>,
  wanted: Record<string, unknown>,
  field: string,
): Promise<void> {
  const holder = await create(app.key, held);
  const other = await create(app.key);
  const conflict = { status: 409, code: `${field}_taken`, conflicts: [toConflict(field, holder)] };
  const created = await app.key.post('/users', aUser(wanted));
  expect([created.status, created.body]).toEqual([409, expect.objectContaining(conflict)]);
  const changed = await app.key.put(`/users/${other.uuid}`, { ...wanted, surname: 'Changed' });
  expect([changed.status, changed.body]).toEqual([409, expect.objectContaining(conflict)]);
  expect((await app.key.get(`/users/${other.uuid}`)).body).toEqual(other);
}

async function expectFree(held: Record<string, unknown>, wanted: Record<string, unknown>): Promise<void> {
  await create(app.key, held);
  expect(await create(app.key, wanted)).toMatchObject(wanted);
}

describe('a username that equals a taken username', () => {
  test.each([
    ['other case', 'jane', 'JANE'],
    ['other white space', 'jane doe', ' jane \u3000 doe\u00a0'],
    ['composed and decomposed accent', 'josé', 'jose\u0301'],
    ['sharp s and ss', 'straße', 'STRASSE'],
    ['both Greek sigmas', 'Σίσυφος', 'σίσυφοσ'],
    ['two emoji', '👩💻', '👩💻'],
    ['longer than the key column', '𠀀'.repeat(200), '𠀀'.repeat(200)],
  ])('returns 409: %s', async (_, first, second) => {
    const tag = createTag();
    await expectTaken({ username: `${tag} ${first}` }, { username: `${tag} ${second}` }, 'username');
  });
});

describe('usernames that differ', () => {
  const long = '𠀀'.repeat(240);
  test.each([
    ['accents', 'José', 'Jose'],
    ['a stroke', 'Søren', 'Soren'],
    ['emoji that some collations treat as equal', '😀', '😁'],
    ['skin tones', '👍🏻', '👍🏿'],
    ['kana', 'はは', 'ハハ'],
    ['a wildcard', 'j_ne%', 'jane%'],
    ['a character beyond the length of the key column', `${long}a`, `${long}b`],
  ])('only by %s are accepted', async (_, first, second) => {
    const tag = createTag();
    await expectFree({ username: `${tag}${first}` }, { username: `${tag}${second}` });
  });
});

describe('email addresses', () => {
  test('are equal in any case or character width', async () => {
    const tag = createTag();
    const [held, wanted] = [`Jane.${tag}@example.org`, `ｊａｎｅ.${tag}@EXAMPLE.ORG`];
    await expectTaken({ email: held }, { email: wanted }, 'email');
  });
  test('differ by accents, dots or tags', async () => {
    const tag = createTag();
    for (const local of ['jane.doe', 'janedoe', 'jane.doe+x', 'jané.doe']) {
      const email = `${local}.${tag}@example.org`;
      expect((await create(app.key, { email })).email).toBe(email);
    }
  });
});

describe('the login namespace', () => {
  const createAddress = () => `${createTag()}@example.org`;
  test("rejects another user's email address as username", async () => {
    const email = createAddress();
    await expectTaken({ email }, { username: email.toUpperCase() }, 'username');
  });
  test("rejects another user's username as email address", async () => {
    const username = createAddress();
    await expectTaken({ username }, { email: username.toUpperCase() }, 'email');
  });
  test('lets users take their own email address as username', async () => {
    const email = createAddress();
    const { uuid } = await create(app.key, { username: email, email });
    const renamed = await app.key.put(`/users/${uuid}`, { username: createTag() });
    expect([renamed.status, renamed.body.email]).toEqual([200, email]);
    expect((await app.key.post('/users', aUser({ username: email }))).body.code).toBe('username_taken');
    expect((await app.key.put(`/users/${uuid}`, { username: email })).body.username).toBe(email);
  });
});

describe('external_id', () => {
  test('returns 409 for a taken value with other surrounding spaces', async () => {
    const tag = createTag();
    await expectTaken({ external_id: `HR ${tag}` }, { external_id: ` HR ${tag} ` }, 'external_id');
    await expectTaken({ external_id: `é${tag}` }, { external_id: `e\u0301${tag}` }, 'external_id');
  });
  test.each([
    ['case', 'HR-', 'hr-'],
    ['inner spaces', 'a  b', 'a b'],
    ['a ligature', 'ﬁ', 'fi'],
    ['accents', 'é', 'e'],
  ])('accepts two values that differ only by %s', async (_, first, second) => {
    const tag = createTag();
    await expectFree({ external_id: `${tag}${first}x` }, { external_id: `${tag}${second}x` });
  });
  test("may equal another user's username", async () => {
    const tag = createTag();
    await expectFree({ username: tag }, { external_id: tag });
  });
});

describe('authname', () => {
  test('is unique per provider', async () => {
    const tag = createTag();
    const wanted = { ldap: [tag], saml: [` ${tag} `] };
    await expectTaken({ authname: { saml: ['x', tag] } }, { authname: wanted }, 'authname');
  });
  test('accepts names that differ only in case or provider', async () => {
    const tag = createTag();
    await expectFree({ authname: { saml: [`A${tag}`] } }, { authname: { saml: [`a${tag}`] } });
    await expectFree({ authname: { saml: [`b${tag}`] } }, { authname: { ldap: [`b${tag}`] } });
  });
});

test('a 409 response lists every conflict with another user', async () => {
  const [one, two] = [await create(app.key), await create(app.key)];
  const three = await create(app.key, { external_id: createTag(), authname: { saml: [createTag()] } });
  const { external_id, authname } = three;
  const wanted = { username: one.username, email: two.email, external_id, authname };
  const { status, body } = await app.key.post('/users', aUser(wanted));
  expect([status, body.code]).toEqual([409, 'username_taken']);
  expect(body.conflicts).toEqual([
    toConflict('username', one),
    toConflict('email', two),
    toConflict('external_id', three),
    toConflict('authname', three),
  ]);
});

test('a renamed and blocked user occupies only the new username', async () => {
  const user = await create(app.key);
  await app.key.put(`/users/${user.uuid}`, { username: `${user.username} 2`, status: 'Blocked' });
  expect((await create(app.key, { username: user.username })).username).toBe(user.username);
  expect((await app.key.post('/users', aUser({ username: `${user.username} 2` }))).body).toMatchObject({
    code: 'username_taken',
    conflicts: [{ field: 'username', uuid: user.uuid }],
  });
});

test('the case of a username can be changed', async () => {
  const { uuid, username } = await create(app.key);
  const answer = await app.key.put(`/users/${uuid}`, { username: username.toUpperCase() });
  expect([answer.status, answer.body.username]).toEqual([200, username.toUpperCase()]);
});
