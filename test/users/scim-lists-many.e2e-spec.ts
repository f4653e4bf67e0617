import { beforeAll, expect, test } from '@jest/globals';
import type { User } from '../../src/users/model/user.js';
import { setUpApp } from '../support/app/app.js';
import type { Json } from '../support/app/client.js';
import { ENTERPRISE, type ScimClient, createScimClient, scimOf } from '../support/app/scim.js';
import { fetchList, walkByCursor, walkByIndex } from '../support/app/scim-lists.js';
import { seedUsers, seededUser } from '../support/app/seed.js';

/** Largest number of users that a list may scan. Longer lists take their order from an index. */
const LIMIT = 1000;
const FEW = 900;
const MANY = 1300;
const app = setUpApp({ SCIM_SCAN_LIMIT: String(LIMIT) });
let scims: ScimClient[];
beforeAll(async () => {
  scims = [scimOf(app), await createScimClient(app, { scopes: ['users:read'] })];
  await seedUsers(app, 0, FEW, buildPerson);
});

/** Builds user `n` with a department. Most users share a display name with others, and a few have an employee number. */
function buildPerson(n: number): User {
  const displayName = n % 2 ? `Näme ${n % 37}` : `NÄME  ${n % 37}`;
  const attributes = {
    ...(n % 4 && { displayName }),
    department: ['Sales', 'sales', 'Ärzte', 'Zoo'][n % 4],
    ...(n % 200 === 7 && { employeeNumber: `E-${1000 - n}` }),
  };
  return { ...seededUser(n), attributes: attributes };
}

const SORTS = ['displayName', `${ENTERPRISE}:department`, `${ENTERPRISE}:employeeNumber`];
const ORDERS = ['ascending', 'descending'] as const;

const names = (resources: Json[]): string[] => resources.map(({ userName }) => userName);

/** Returns the usernames sorted by folded text and id. Users without a value come last, or first in descending order. */
function sortNames(sortBy: string, order: (typeof ORDERS)[number], users: User[]): string[] {
  const keyOf = ({ attributes }: User): string => {
    const text = attributes[sortBy.slice(sortBy.lastIndexOf(':') + 1)];
    return typeof text === 'string' ? text.toLowerCase().replace(/\s+/g, ' ') : '\u{10ffff}';
  };
  const sorted = users
    .map((user): [key: string, user: User] => [keyOf(user), user])
    .sort(([a, { uuid }], [b, other]) => (a < b ? -1 : a > b ? 1 : uuid < other.uuid ? -1 : 1));
  return (order === 'ascending' ? sorted : sorted.reverse()).map(([, { username }]) => username);
}

const build = (count: number): User[] => Array.from({ length: count }, (_, n) => buildPerson(n));
const keepSeeded = (list: readonly string[]): string[] => list.filter((name) => /^u\d{7}$/.test(name));

test('a SCIM cursor stays valid if the list outgrows the scan limit', async () => {
  const [scim] = scims;
  if (!scim) throw new Error('no client');
  const begun: [sortBy: string, sortOrder: (typeof ORDERS)[number], page: Json][] = [];
  for (const sortBy of SORTS)
    for (const sortOrder of ORDERS)
      begun.push([
        sortBy,
        sortOrder,
        await fetchList(scim, '/Users', { sortBy, sortOrder, cursor: '', count: 100 }),
      ]);
  await seedUsers(app, FEW, MANY, buildPerson);
  for (const [sortBy, sortOrder, first] of begun) {
    const whole = sortNames(sortBy, sortOrder, build(MANY));
    const last = keepSeeded(names(first.Resources)).at(-1) ?? '';
    const next = await fetchList(scim, '/Users', { sortBy, sortOrder, cursor: first.nextCursor, count: 50 });
    const following = whole.slice(whole.indexOf(last) + 1);
    const found = keepSeeded(names(next.Resources));
    expect(found).toEqual(following.slice(0, found.length));
    expect(next.Resources).toHaveLength(50);
  }
});

test.each(SORTS.flatMap((sortBy) => ORDERS.map((order) => [sortBy, order] as const)))(
  'a SCIM list over the scan limit is sorted by %s, %s',
  async (sortBy, sortOrder) => {
    for (const scim of scims)
      for (const filter of ['', 'active eq true', 'userName sw "u0"']) {
        const users = build(MANY).filter(({ status }) => filter !== 'active eq true' || status === 'Active');
        const query = { sortBy, sortOrder, count: 200, attributes: 'userName', ...(filter && { filter }) };
        const paged = names(await walkByIndex(scim, '/Users', query));
        const walked = names(await walkByCursor(scim, '/Users', query));
        expect(keepSeeded(paged)).toEqual(sortNames(sortBy, sortOrder, users));
        expect(walked).toEqual(paged);
      }
  },
);

test('a SCIM list over the scan limit rejects sorting by unindexed attributes', async () => {
  const answer = await scims[0]?.get('/Users?sortBy=title');
  expect([answer?.status, answer?.body.scimType]).toEqual([400, 'tooMany']);
  expect(answer?.body.detail).toContain(`, ${ENTERPRISE}:department,`);
});
