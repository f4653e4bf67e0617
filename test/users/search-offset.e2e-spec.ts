import { beforeAll, expect, test } from '@jest/globals';
import { type TestApp, setUpApp } from '../support/app/app.js';
import { aUser } from '../support/data/factories.js';
import { csv, runImport } from '../support/app/imports.js';
import { databaseOf } from '../support/app/people.js';
import { type Query, search } from '../support/app/search.js';
import { RARE, seedUsers, seededUuid } from '../support/app/seed.js';

/** Pages by offset reuse the position of the previous page, but must be exact even if users change in between. */
const USERS = 2000;
const app = setUpApp();
let other: TestApp;
beforeAll(async () => {
  other = await app.startOther();
  await seedUsers(app, 0, USERS);
});

/** Returns the UUIDs of a page, and the UUIDs that a plain SQL query returns at the same offset. */
async function load(of: TestApp, query: Query, where: string, order: string): Promise<[string[], string[]]> {
  const { Results } = (await search(of.key, query)).body as { Results: { uuid: string }[] };
  const rows = await databaseOf(app).query<{ uuid: string }>(
    `SELECT uuid FROM users WHERE ${where} ORDER BY ${order} LIMIT 25 OFFSET ?`,
    [Number(query['offset'])],
  );
  return [Results.map(({ uuid }) => uuid), rows.map(({ uuid }) => uuid)];
}

const WALKS: [Query, string, string][] = [
  [{}, '1 = 1', 'updated DESC, uuid DESC'],
  [{ sort: 'surname', order: 'asc' }, '1 = 1', "surname_sort = '', surname_sort, uuid"],
  [{ sort: 'external_id', order: 'asc' }, '1 = 1', 'external_id_key IS NULL, external_id_key, uuid'],
  [{ sort: 'status', order: 'desc', status: 'Active' }, "status = 'Active'", 'status DESC, uuid DESC'],
  [
    { sort: 'firstname', order: 'desc', managed_by: 'default' },
    "managed_by = 'default'",
    'firstname_sort DESC, uuid DESC',
  ],
];

test.each(WALKS)('search pages by offset match a plain SQL query: %o', async (query, where, order) => {
  for (let offset = 425, page = 0; offset <= USERS + 25; offset += 25, page++) {
    const [found, expected] = await load(page % 3 ? app : other, { ...query, offset }, where, order);
    expect({ offset, found }).toEqual({ offset, found: expected });
  }
});

const CHANGES: [string, () => Promise<unknown>][] = [
  ['creating a user', () => app.key.post('/users', aUser())],
  ['changing a user on another instance', () => other.key.put(`/users/${seededUuid(3)}`, { phone: '1' })],
  ['blocking a user', () => app.key.put(`/users/${seededUuid(1500)}`, { status: 'Blocked' })],
];
test.each(CHANGES)('the next search page stays correct after %s', async (_, change) => {
  for (const [query, where, order] of WALKS) {
    await search(app.key, { ...query, offset: 1000 });
    await change();
    const [found, expected] = await load(app, { ...query, offset: 1025 }, where, order);
    expect(found).toEqual(expected);
  }
});

test('the next search page stays correct after linking users by import', async () => {
  const walk = { managed_by: 'claims', sort: 'username', order: 'asc' } as const;
  const unlink = (from: number, to: number) =>
    databaseOf(app).execute('UPDATE users SET managed_by = NULL WHERE uuid >= ? AND uuid < ?', [
      seededUuid(from),
      seededUuid(to),
    ]);
  await unlink(RARE, 1220);
  const buildLines = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, n) => `HR-${String(from + n).padStart(7, '0')}`);
  await runImport(app.key, csv('ExternalId', ...buildLines(620, 1220)), 'dataset=claims&mode=update_only');
  await search(app.key, { ...walk, offset: 500 });
  await runImport(app.key, csv('ExternalId', ...buildLines(RARE, 620)), 'dataset=claims&mode=update_only');
  const [found, expected] = await load(
    app,
    { ...walk, offset: 525 },
    "managed_by = 'claims'",
    'username_key, uuid',
  );
  expect(found).toHaveLength(25);
  expect(found).toEqual(expected);
});
