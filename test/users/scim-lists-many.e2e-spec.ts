import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { User } from '../../src/users/model/user.js';
import { TestApp } from '../support/app/app.js';
import type { Json } from '../support/app/client.js';
import { ENTERPRISE, type ScimClient, scimAs, scimOf } from '../support/app/scim.js';
import { listOf, walkByCursor, walkByIndex } from '../support/app/scim-lists.js';
import { seedUsers, seededUser } from '../support/app/seed.js';

/** More users than a list may look at one by one: then an index must give the order. */
const LIMIT = 1000;
const FEW = 900;
const MANY = 1300;
let app: TestApp;
let scims: ScimClient[];
beforeAll(async () => {
  app = await TestApp.start({ SCIM_SCAN_LIMIT: String(LIMIT) });
  scims = [scimOf(app), await scimAs(app, { scopes: ['users:read'] })];
  await seedUsers(app, 0, FEW, personOf);
});
afterAll(() => app.end());

/** Three quarters have a display name, which several share; everybody is of a department; five have a number. */
function personOf(n: number): User {
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

/** As the law says: folded texts by code point, then ids; who has none is last, and first when descending. */
function expected(sortBy: string, order: (typeof ORDERS)[number], users: User[]): string[] {
  const keyOf = ({ attributes }: User): string => {
    const text = attributes[sortBy.slice(sortBy.lastIndexOf(':') + 1)];
    return typeof text === 'string' ? text.toLowerCase().replace(/\s+/g, ' ') : '\u{10ffff}';
  };
  const sorted = users
    .map((user): [key: string, user: User] => [keyOf(user), user])
    .sort(([a, { uuid }], [b, other]) => (a < b ? -1 : a > b ? 1 : uuid < other.uuid ? -1 : 1));
  return (order === 'ascending' ? sorted : sorted.reverse()).map(([, { username }]) => username);
}

const people = (count: number): User[] => Array.from({ length: count }, (_, n) => personOf(n));
const ofSeed = (list: readonly string[]): string[] => list.filter((name) => /^u\d{7}$/.test(name));

test('a cursor of few users goes on when there are many', async () => {
  const [scim] = scims;
  if (!scim) throw new Error('no client');
  const begun: [sortBy: string, sortOrder: (typeof ORDERS)[number], page: Json][] = [];
  for (const sortBy of SORTS)
    for (const sortOrder of ORDERS)
      begun.push([
        sortBy,
        sortOrder,
        await listOf(scim, '/Users', { sortBy, sortOrder, cursor: '', count: 100 }),
      ]);
  await seedUsers(app, FEW, MANY, personOf);
  for (const [sortBy, sortOrder, first] of begun) {
    const whole = expected(sortBy, sortOrder, people(MANY));
    const last = ofSeed(names(first.Resources)).at(-1) ?? '';
    const next = await listOf(scim, '/Users', { sortBy, sortOrder, cursor: first.nextCursor, count: 50 });
    const behind = whole.slice(whole.indexOf(last) + 1);
    const found = ofSeed(names(next.Resources));
    expect(found).toEqual(behind.slice(0, found.length));
    expect(next.Resources).toHaveLength(50);
  }
});

test.each(SORTS.flatMap((sortBy) => ORDERS.map((order) => [sortBy, order] as const)))(
  'more users than may be looked at are sorted by %s, %s',
  async (sortBy, sortOrder) => {
    for (const scim of scims)
      for (const filter of ['', 'active eq true', 'userName sw "u0"']) {
        const users = people(MANY).filter(({ status }) => filter !== 'active eq true' || status === 'Active');
        const query = { sortBy, sortOrder, count: 200, ...(filter && { filter }) };
        const paged = names(await walkByIndex(scim, '/Users', query));
        const walked = names(await walkByCursor(scim, '/Users', query));
        expect(ofSeed(paged)).toEqual(expected(sortBy, sortOrder, users));
        expect(walked).toEqual(paged);
      }
  },
);

test('users are looked at one by one up to the limit, where no index sorts', async () => {
  const answer = await scims[0]?.get('/Users?sortBy=title');
  expect([answer?.status, answer?.body.scimType]).toEqual([400, 'tooMany']);
});
