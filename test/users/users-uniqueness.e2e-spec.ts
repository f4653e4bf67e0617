import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { TestApp } from '../support/app/app.js';
import { aUser, create } from '../support/data/factories.js';

let app: TestApp;
beforeAll(async () => void (app = await TestApp.start()));
afterAll(() => app.end());

const unique = () => randomBytes(5).toString('hex');

/** `unit/comparison-keys` tests which names are equal. This file tests names that a database collation could compare differently. */

/** The second value is reported as taken, with the holder's uuid, at creation and at change, and nothing is changed. */
async function expectTaken(
  held: Record<string, unknown>,
  wanted: Record<string, unknown>,
  field: string,
): Promise<void> {
  const holder = await create(app.key, held);
  const other = await create(app.key);
  const conflict = { status: 409, code: `${field}_taken`, conflicts: [{ field, uuid: holder.uuid }] };
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

describe('a username is taken in another spelling', () => {
  test.each([
    ['case', 'jane', 'JANE'],
    ['white space', 'jane doe', ' jane \u3000 doe\u00a0'],
    ['composed and decomposed', 'josé', 'jose\u0301'],
    ['sharp s', 'straße', 'STRASSE'],
    ['both Greek sigmas', 'Σίσυφος', 'σίσυφοσ'],
    ['emoji', '👩💻', '👩💻'],
    ['longer than the key column', '𠀀'.repeat(200), '𠀀'.repeat(200)],
  ])('%s', async (_, first, second) => {
    const tag = unique();
    await expectTaken({ username: `${tag} ${first}` }, { username: `${tag} ${second}` }, 'username');
  });
});

describe('two usernames differ by', () => {
  const long = '𠀀'.repeat(240);
  test.each([
    ['accents', 'José', 'Jose'],
    ['stroke', 'Søren', 'Soren'],
    ['emoji that some collations hold equal', '😀', '😁'],
    ['skin tones', '👍🏻', '👍🏿'],
    ['kana', 'はは', 'ハハ'],
    ['a pattern', 'j_ne%', 'jane%'],
    ['their last character, beyond the length of the key column', `${long}a`, `${long}b`],
  ])('%s', async (_, first, second) => {
    const tag = unique();
    await expectFree({ username: `${tag}${first}` }, { username: `${tag}${second}` });
  });
});

describe('e-mail addresses', () => {
  test('are equal if they differ only in case and width', async () => {
    const tag = unique();
    await expectTaken(
      { email: `Jane.${tag}@example.org` },
      { email: `ｊａｎｅ.${tag}@EXAMPLE.ORG` },
      'email',
    );
  });
  test('accents, dots and tags count', async () => {
    const tag = unique();
    for (const local of ['jane.doe', 'janedoe', 'jane.doe+x', 'jané.doe']) {
      expect((await create(app.key, { email: `${local}.${tag}@example.org` })).email).toBe(
        `${local}.${tag}@example.org`,
      );
    }
  });
});

describe('usernames and e-mail addresses share one name space', () => {
  const address = () => `${unique()}@example.org`;
  test("no username is another's e-mail address", async () => {
    const email = address();
    await expectTaken({ email }, { username: email.toUpperCase() }, 'username');
  });
  test("no e-mail address is another's username", async () => {
    const username = address();
    await expectTaken({ username }, { email: username.toUpperCase() }, 'email');
  });
  test('one user may have the same value as both, release either, and take it back', async () => {
    const email = address();
    const { uuid } = await create(app.key, { username: email, email });
    const renamed = await app.key.put(`/users/${uuid}`, { username: unique() });
    expect([renamed.status, renamed.body.email]).toEqual([200, email]);
    expect((await app.key.post('/users', aUser({ username: email }))).body.code).toBe('username_taken');
    expect((await app.key.put(`/users/${uuid}`, { username: email })).body.username).toBe(email);
  });
});

describe('external_id', () => {
  test('is compared trimmed and composed', async () => {
    const tag = unique();
    await expectTaken({ external_id: `HR ${tag}` }, { external_id: ` HR ${tag} ` }, 'external_id');
    await expectTaken({ external_id: `é${tag}` }, { external_id: `e\u0301${tag}` }, 'external_id');
  });
  test.each([
    ['case', 'HR-', 'hr-'],
    ['inner spaces', 'a  b', 'a b'],
    ['compatibility', 'ﬁ', 'fi'],
    ['accents', 'é', 'e'],
  ])('%s counts', async (_, first, second) => {
    const tag = unique();
    await expectFree({ external_id: `${tag}${first}x` }, { external_id: `${tag}${second}x` });
  });
  test('may equal a username', async () => {
    const tag = unique();
    await expectFree({ username: tag }, { external_id: tag });
  });
});

describe('authname', () => {
  test('one name of a method belongs to one user', async () => {
    const tag = unique();
    await expectTaken(
      { authname: { saml: ['x', tag] } },
      { authname: { ldap: [tag], saml: [` ${tag} `] } },
      'authname',
    );
  });
  test('case and method count', async () => {
    const tag = unique();
    await expectFree({ authname: { saml: [`A${tag}`] } }, { authname: { saml: [`a${tag}`] } });
    await expectFree({ authname: { saml: [`b${tag}`] } }, { authname: { ldap: [`b${tag}`] } });
  });
});

test('every conflict is named with its holder', async () => {
  const [one, two, three] = [
    await create(app.key),
    await create(app.key),
    await create(app.key, { external_id: unique() }),
  ];
  const wanted = { username: one.username, email: two.email, external_id: three.external_id };
  const { status, body } = await app.key.post('/users', aUser(wanted));
  expect([status, body.code]).toEqual([409, 'username_taken']);
  expect(body.conflicts).toEqual([
    { field: 'username', uuid: one.uuid },
    { field: 'email', uuid: two.uuid },
    { field: 'external_id', uuid: three.uuid },
  ]);
});

test('a released name is free at once; the name of a blocked user is not', async () => {
  const user = await create(app.key);
  await app.key.put(`/users/${user.uuid}`, { username: `${user.username} 2`, status: 'Blocked' });
  expect((await create(app.key, { username: user.username })).username).toBe(user.username);
  const taken = await app.key.post('/users', aUser({ username: `${user.username} 2` }));
  expect(taken.body).toMatchObject({
    code: 'username_taken',
    conflicts: [{ field: 'username', uuid: user.uuid }],
  });
});

test('a user may change the spelling of their own name', async () => {
  const { uuid, username } = await create(app.key);
  const answer = await app.key.put(`/users/${uuid}`, { username: username.toUpperCase() });
  expect([answer.status, answer.body.username]).toEqual([200, username.toUpperCase()]);
});
