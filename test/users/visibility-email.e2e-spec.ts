import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { DATABASE, type Database } from '../../src/database/engine/database.js';
import { TestApp } from '../support/app/app.js';
import type { Client, Json } from '../support/app/client.js';
import { create } from '../support/data/factories.js';
import { found, search } from '../support/app/search.js';

const PASSWORD = 'a good password';
const FULL = {
  username: 'hidden',
  email: 'secret.address@example.org',
  firstname: 'Harriet',
  hide_email: true,
  password: PASSWORD,
};

let app: TestApp;
let member: Client, self: Client;
let hidden: Json;

beforeAll(async () => {
  app = await TestApp.start();
  hidden = await create(app.key, FULL);
  await create(app.key, { username: 'shown', email: 'open@example.org' });
  await create(app.key, { username: 'member', password: PASSWORD });
  member = await app.login('member', PASSWORD);
  self = await app.login('hidden', PASSWORD);
});
afterAll(() => app.end());

describe('a hidden e-mail address does not leak', () => {
  test.each([
    { email: FULL.email },
    { email: FULL.email.toUpperCase() },
    { fulltext_search: FULL.email },
    { fulltext_search: 'secret.address' },
    { fulltext_search: 'secret*' },
    { fulltext_search: 'harriet secret.address' },
  ])('%j finds nobody for a member', async (query) => {
    expect(await found(app.key, query)).toEqual(['hidden']);
    expect(await found(member, query)).toEqual([]);
  });

  test('a word that is also in the name still finds the user', async () => {
    const user = await create(app.key, { surname: 'Unseen', email: 'unseen@example.org', hide_email: true });
    expect(await found(member, { fulltext_search: 'unseen' })).toEqual([user.username]);
    expect(await found(member, { fulltext_search: 'unseen@example.org' })).toEqual([]);
  });

  test('its owner finds it by the filter', async () => {
    expect(await found(self, { email: FULL.email })).toEqual(['hidden']);
  });

  test('sorting by e-mail does not reveal it to a member', async () => {
    const forMember = async () => {
      const answer = await search(member, 'sort=email&order=asc&limit=100');
      if (answer.status !== 200) return [answer.status, answer.body.code];
      return answer.body.Results.map(({ uuid }: Json) => uuid);
    };
    const before = await forMember();
    for (const email of ['0.first@example.org', 'zz.last@example.org']) {
      expect((await app.key.put(`/users/${hidden.uuid}`, { email })).status).toBe(200);
      expect(await forMember()).toEqual(before);
    }
    if (before[0] === 403) expect(before).toEqual([403, 'forbidden']);
    await app.key.put(`/users/${hidden.uuid}`, { email: FULL.email });
  });

  test('its rank among the results does not reveal it', async () => {
    const term = 'ranked';
    const plain = await create(app.key, { external_id: 'ranked' });
    const secret = await create(app.key, {
      external_id: 'ranked x',
      email: 'ranked@example.org',
      hide_email: true,
    });
    await app.app
      .get<Database>(DATABASE)
      .execute('UPDATE users SET updated = created WHERE uuid = ?', [plain.uuid]);
    const order = async (client: Client) =>
      (await search(client, { fulltext_search: term })).body.Results.map(({ uuid }: Json) => uuid);
    const before = await order(member);
    expect(await order(app.key)).toEqual([secret.uuid, plain.uuid]);
    await app.key.put(`/users/${secret.uuid}`, { email: 'other@example.org' });
    expect(await order(member)).toEqual(before);
  });
});
