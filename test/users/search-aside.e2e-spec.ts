import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { DATABASE, type Database } from '../../src/platform/database/engine/database.js';
import { TestApp } from '../support/app/app.js';
import type { Client } from '../support/app/client.js';
import { ENGINE } from '../support/app/database.js';
import { seedUsers, seededUuid } from '../support/app/seed.js';

/** Which statements run in the thread that answers requests, on an embedded database: those that a key bounds. */
const onSqlite = ENGINE === 'sqlite' ? describe : describe.skip;
const USERS = 16_000;

onSqlite('statements of a search', () => {
  let app: TestApp;
  let member: Client;
  let aside: jest.SpiedFunction<Database['scan']>;
  jest.setTimeout(120_000);
  beforeAll(async () => {
    app = await TestApp.start();
    await seedUsers(app, 0, USERS);
    await app.key.post('/users', {
      username: 'member',
      email: 'member@example.org',
      password: 'a long password',
    });
    member = await app.login('member', 'a long password');
    aside = jest.spyOn(app.app.get<Database>(DATABASE), 'scan');
  });
  afterAll(async () => {
    await app.end();
  });

  const isAside = async (path: string, client: Client = app.key): Promise<boolean> => {
    aside.mockClear();
    const answer = await client.get(path);
    if (answer.status !== 200) throw new Error(`${path}: ${answer.status}`);
    return aside.mock.calls.length > 0;
  };

  test.each([
    ['a page of everybody', ''],
    ['a page of a sort', 'sort=surname&order=asc&limit=100'],
    ['a page that is not deep', 'sort=firstname&order=asc&offset=9000'],
    ['an external id', 'external_id=HR-0000077'],
    ['a username', 'username=u0000077'],
    ['an e-mail address', 'email=u0000077@example.org'],
    ['a login name', 'authname=saml:u0000070'],
    ['what nobody has', 'external_id=nothing'],
    ['a word that few have', 'fulltext_search=u0000077'],
    ['words that few have', 'fulltext_search=u0000077%20HR-0000077'],
    ['a beginning that few have', 'fulltext_search=u000007*'],
    ['a status beside few others', 'status=Active'],
  ])('in the thread: %s', async (_what, query) => {
    expect(await isAside(`/users/search?${query}`)).toBe(false);
  });

  test.each([
    ['a deep page', 'sort=firstname&order=asc&offset=11000'],
    ['a common word', 'fulltext_search=anna'],
    ['a common word beside a rare one', 'fulltext_search=u0000077%20anna'],
    ['a common beginning', 'fulltext_search=u0*'],
    ['a rare word and a filter', 'fulltext_search=u0000077&updated_since=2020-01-01T00:00:00Z'],
    ['a range', 'updated_since=2020-01-01T00:00:00Z'],
    ['another range', 'created_since=2020-01-01T00:00:00Z'],
    ['a manager', `manager_uuid=${seededUuid(0)}`],
    ['a data set', 'managed_by=default'],
    ['a role', 'role=Organisational%20user'],
    ['a status that few have', 'status=Blocked'],
    ['users with an external id', 'has_external_id=true'],
    ['users without one', 'has_external_id=false'],
    ['two filters', 'external_id=HR-0000077&managed_by=default'],
  ])('beside it: %s', async (_what, query) => {
    expect(await isAside(`/users/search?${query}`)).toBe(true);
  });

  test('a page of active users is read beside the thread where it may pass over many blocked ones', async () => {
    expect(await isAside('/users/search', member)).toBe(false);
    const database = app.app.get<Database>(DATABASE);
    const block = `UPDATE users SET status = 'Blocked' WHERE username LIKE 'u%'`;
    await database.execute(block);
    await database.execute("INSERT INTO user_counts (id, name, value) VALUES ('a', 'Blocked', 11000)");
    await database.execute("INSERT INTO user_counts (id, name, value) VALUES ('b', 'Active', -11000)");
    expect(await isAside('/users/search', member)).toBe(true);
  });

  test('exports, rows of an import, and filters of the audit that look for few among many', async () => {
    expect(await isAside('/users/export.csv')).toBe(true);
    expect(await isAside('/audit?action=user.created')).toBe(false);
    expect(await isAside('/audit?action=user.created&field=email')).toBe(true);
  });
});
