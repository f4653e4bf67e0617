import { beforeAll, expect, jest, test } from '@jest/globals';
import type { Database } from '../../src/platform/database/engine/database.js';
import { setUpApp } from '../support/app/app.js';
import type { Client } from '../support/app/client.js';
import { describeOnSqlite } from '../support/app/database.js';
import { seedUsers, seededUuid } from '../support/app/seed.js';
import { databaseOf } from '../support/app/people.js';

/** On SQLite, only statements that an index bounds run in the process that answers requests. */
const USERS = 16_000;

describeOnSqlite('queries on SQLite', () => {
  const app = setUpApp();
  let member: Client;
  let aside: jest.SpiedFunction<Database['scan']>;
  beforeAll(async () => {
    await seedUsers(app, 0, USERS);
    await app.key.post('/users', {
      username: 'member',
      email: 'member@example.org',
      password: 'a long password',
    });
    member = await app.login('member', 'a long password');
    aside = jest.spyOn(databaseOf(app), 'scan');
  });

  const usesReadWorker = async (path: string, client: Client = app.key): Promise<boolean> => {
    aside.mockClear();
    const answer = await client.get(path);
    if (answer.status !== 200) throw new Error(`${path}: ${answer.status}`);
    return aside.mock.calls.length > 0;
  };

  test.each([
    ['first page of all users', ''],
    ['page of a sorted list', 'sort=surname&order=asc&limit=100'],
    ['page at offset 9000', 'sort=firstname&order=asc&offset=9000'],
    ['external id', 'external_id=HR-0000077'],
    ['username', 'username=u0000077'],
    ['email', 'email=u0000077@example.org'],
    ['authname', 'authname=saml:u0000070'],
    ['unknown external id', 'external_id=nothing'],
    ['rare word', 'fulltext_search=u0000077'],
    ['two rare words', 'fulltext_search=u0000077%20HR-0000077'],
    ['common word with a rare word', 'fulltext_search=u0000077%20anna'],
    ['rare prefix', 'fulltext_search=u000007*'],
    ['status of almost all users', 'status=Active'],
  ])('a cheap search runs outside the read worker: %s', async (_what, query) => {
    expect(await usesReadWorker(`/users/search?${query}`)).toBe(false);
  });

  test.each([
    ['page at offset 11000', 'sort=firstname&order=asc&offset=11000'],
    ['common word', 'fulltext_search=anna'],
    ['common prefix', 'fulltext_search=u0*'],
    ['rare word with updated_since', 'fulltext_search=u0000077&updated_since=2020-01-01T00:00:00Z'],
    ['updated_since', 'updated_since=2020-01-01T00:00:00Z'],
    ['created_since', 'created_since=2020-01-01T00:00:00Z'],
    ['manager', `manager_uuid=${seededUuid(0)}`],
    ['data set', 'managed_by=default'],
    ['role', 'role=Organisational%20user'],
    ['status of few users', 'status=Blocked'],
    ['users with an external id', 'has_external_id=true'],
    ['users without an external id', 'has_external_id=false'],
    ['two filters', 'external_id=HR-0000077&managed_by=default'],
  ])('a possibly expensive search runs in the read worker: %s', async (_what, query) => {
    expect(await usesReadWorker(`/users/search?${query}`)).toBe(true);
  });

  test('a member search uses the read worker if most users are blocked', async () => {
    expect(await usesReadWorker('/users/search', member)).toBe(false);
    const database = databaseOf(app);
    const block = `UPDATE users SET status = 'Blocked' WHERE username LIKE 'u%'`;
    await database.execute(block);
    await database.execute("INSERT INTO user_counts (id, name, value) VALUES ('a', 'Blocked', 11000)");
    await database.execute("INSERT INTO user_counts (id, name, value) VALUES ('b', 'Active', -11000)");
    expect(await usesReadWorker('/users/search', member)).toBe(true);
  });

  test('user exports and audit searches by field run in the read worker', async () => {
    expect(await usesReadWorker('/users/export.csv')).toBe(true);
    expect(await usesReadWorker('/audit?action=user.created')).toBe(false);
    expect(await usesReadWorker('/audit?action=user.created&field=email')).toBe(true);
  });
});
