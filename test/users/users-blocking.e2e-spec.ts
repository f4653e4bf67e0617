import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { ADMIN_PASSWORD, TestApp } from '../support/app/app.js';
import { auditRows } from '../support/app/audit-rows.js';
import type { Client, Json } from '../support/app/client.js';
import { create } from '../support/data/factories.js';
import { refusal } from '../support/app/problems.js';

let app: TestApp;
let admin: Client;
let adminUuid: string;
beforeAll(async () => void (app = await TestApp.start()));
beforeEach(async () => {
  admin = await app.login();
  adminUuid = (await admin.get('/users/me')).body.uuid as string;
});
afterAll(() => app.end());

const PASSWORD = 'a long password';
const person = (overrides: Record<string, unknown> = {}) =>
  create(app.key, { password: PASSWORD, ...overrides });
const put = (user: Json, body: object, client: Client = app.key) => client.put(`/users/${user.uuid}`, body);
const me = async (client: Client): Promise<number> => (await client.get('/users/me')).status;

describe('blocking', () => {
  test('ends every session of the user with the very next request, and no login follows', async () => {
    const user = await person();
    const bystander = await person();
    const [one, two] = [await app.login(user.username, PASSWORD), await app.login(user.username, PASSWORD)];
    const other = await app.login(bystander.username, PASSWORD);
    expect((await put(user, { status: 'Blocked' }, admin)).body.status).toBe('Blocked');
    expect([await me(one), await me(two), await me(other), await me(admin)]).toEqual([401, 401, 200, 200]);
    const login = await app.nobody.post('/sessions/login', { username: user.username, password: PASSWORD });
    expect(refusal(login)).toEqual([401, 'login_failed']);
  });

  test('an old session does not come back when the user is active again, but a login works', async () => {
    const user = await person();
    const session = await app.login(user.username, PASSWORD);
    await put(user, { status: 'Blocked' });
    expect((await put(user, { status: 'Active' })).body.status).toBe('Active');
    expect(await me(session)).toBe(401);
    expect(await me(await app.login(user.username, PASSWORD))).toBe(200);
    const actions = (await auditRows(app, user.uuid)).map(({ action }) => action);
    expect(actions).toEqual(['user.created', 'user.blocked', 'user.reactivated']);
  });

  test('a failed change blocks nobody', async () => {
    const user = await person();
    const session = await app.login(user.username, PASSWORD);
    const other = await person();
    expect((await put(user, { status: 'Blocked', username: other.username })).status).toBe(409);
    expect((await put(user, { status: 'Blocked' }, app.key.with({ 'if-match': '"x"' }))).status).toBe(412);
    expect(await me(session)).toBe(200);
  });

  test('nobody blocks themselves', async () => {
    await person({ roles: ['Webmaster'] });
    expect(refusal(await put({ uuid: adminUuid }, { status: 'Blocked' }, admin))).toEqual([
      403,
      'self_block',
    ]);
    expect(await me(admin)).toBe(200);
    const user = await person();
    const own = await app.login(user.username, PASSWORD);
    expect(refusal(await put(user, { status: 'Blocked' }, own))).toEqual([403, 'field_not_permitted']);
    expect(await me(own)).toBe(200);
  });
});

describe('what ends sessions, and what does not', () => {
  test.each([
    ['to Webmaster', ['Editor'], ['Editor', 'Webmaster'], 401],
    ['from Webmaster', ['Webmaster'], ['Editor'], 401],
    ['between other roles', ['Editor'], ['Author'], 200],
    ['of a Webmaster who stays one', ['Webmaster'], ['Editor', 'Webmaster'], 200],
  ])('a change of roles %s', async (_, before, after, status) => {
    const user = await person({ roles: before });
    const session = await app.login(user.username, PASSWORD);
    expect((await put(user, { roles: after })).status).toBe(200);
    expect(await me(session)).toBe(status);
  });

  test('a new password ends the other sessions, not the one that set it', async () => {
    const user = await person();
    const [own, other] = [await app.login(user.username, PASSWORD), await app.login(user.username, PASSWORD)];
    const changed = await put(user, { password: 'another long password', current_password: PASSWORD }, own);
    expect(changed.status).toBe(200);
    expect([await me(own), await me(other)]).toEqual([200, 401]);
    await put(user, { password: 'a third password' });
    expect(await me(own)).toBe(401);
    await app.login(user.username, 'a third password');
  });

  test('other changes end no session', async () => {
    const user = await person();
    const session = await app.login(user.username, PASSWORD);
    await put(user, {
      username: `${user.username} 2`,
      email: `2${user.email}`,
      status: 'Active',
      surname: 'Doe',
    });
    expect(await me(session)).toBe(200);
  });
});

describe('the last active Webmaster', () => {
  let fresh: TestApp;
  let last: Json;
  beforeAll(async () => {
    fresh = await TestApp.start();
    last = (await (await fresh.login()).get('/users/me')).body;
  });
  afterAll(() => fresh.end());
  const change = (user: Json, body: object) => fresh.key.put(`/users/${user.uuid}`, body);

  test.each([
    ['blocked', { status: 'Blocked' }],
    ['given other roles', { roles: ['Editor'] }],
    ['given the default roles', { roles: [] }],
  ])('is not %s', async (_, body) => {
    await create(fresh.key, { roles: ['Webmaster'], status: 'Blocked' });
    expect(refusal(await change(last, body))).toEqual([409, 'last_webmaster']);
    await fresh.login('admin', ADMIN_PASSWORD);
  });

  test('cannot lose the role', async () => {
    const answer = await (await fresh.login()).put(`/users/${last.uuid}`, { roles: ['Editor'] });
    expect(refusal(answer)).toEqual([409, 'last_webmaster']);
  });

  test('may leave when there is another one, who is then the last', async () => {
    const other = await create(fresh.key);
    await change(other, { roles: ['Webmaster'] });
    expect((await change(last, { status: 'Blocked' })).status).toBe(200);
    expect(refusal(await change(other, { roles: ['Editor'] }))).toEqual([409, 'last_webmaster']);
    expect((await change(last, { roles: ['Editor'] })).status).toBe(200);
    expect((await change(last, { roles: ['Webmaster'], status: 'Active' })).status).toBe(200);
    expect((await change(other, { status: 'Blocked' })).status).toBe(200);
    expect((await change(other, { roles: [] })).status).toBe(200);
  });
});
