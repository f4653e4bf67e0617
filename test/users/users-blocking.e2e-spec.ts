import { beforeAll, describe, expect, test } from '@jest/globals';
import { setUpApp } from '../support/app/app.js';
import type { Json } from '../support/app/client.js';
import { create } from '../support/data/factories.js';
import { refusalOf } from '../support/app/problems.js';

/** The end of the sessions of blocked users is tested in `sessions/session-end`. */
const app = setUpApp();
let last: Json;
beforeAll(async () => void (last = (await (await app.login()).get('/users/me')).body));

const change = (user: Json, body: object, client = app.key) => client.put(`/users/${user.uuid}`, body);

describe('the last active Webmaster', () => {
  test.each([
    ['blocked', { status: 'Blocked' }],
    ['given other roles', { roles: ['Editor'] }],
    ['given the default roles', { roles: [] }],
  ])('cannot be %s', async (_, body) => {
    await create(app.key, { roles: ['Webmaster'], status: 'Blocked' });
    expect(refusalOf(await change(last, body))).toEqual([409, 'last_webmaster']);
    await app.login();
  });

  test('can be blocked after another user becomes a Webmaster', async () => {
    const other = await create(app.key);
    await change(other, { roles: ['Webmaster'] });
    expect((await change(last, { status: 'Blocked' })).status).toBe(200);
    expect(refusalOf(await change(other, { roles: ['Editor'] }))).toEqual([409, 'last_webmaster']);
    expect((await change(last, { roles: ['Editor'] })).status).toBe(200);
    expect((await change(last, { roles: ['Webmaster'], status: 'Active' })).status).toBe(200);
    expect((await change(other, { status: 'Blocked' })).status).toBe(200);
    expect((await change(other, { roles: [] })).status).toBe(200);
  });
});
