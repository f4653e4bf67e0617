import { beforeAll, expect, test } from '@jest/globals';
import { listStallCases, measureStall } from '../../tools/bench/cases/stalls.js';
import { API_KEY, setUpApp } from '../support/app/app.js';
import { aGroup } from '../support/app/groups.js';
import { errorOf, provision, scimOf } from '../support/app/scim.js';
import { seedUsers, seededUuids } from '../support/app/seed.js';

/** Large SCIM requests do not delay other requests, and requests that cost too much are refused. */
const USERS = 1200;
/** Five times the promised time, because this process also sends the requests. */
const MOST_MILLIS = 500;
const app = setUpApp({ SCIM_SCAN_LIMIT: '1000' });
const scim = scimOf(app);
let id: string;
beforeAll(async () => {
  await seedUsers(app, 0, USERS);
  ({ id } = await provision(scim));
});

const members = seededUuids(0, USERS);

/** Returns the CPU time of this thread in milliseconds. It does not grow while the thread waits for a core. */
function readCpuClock(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

test.each(listStallCases(members))('other requests do not wait long for $name', async (each) => {
  let longest = Infinity;
  for (let attempt = 0; attempt < 3 && longest > MOST_MILLIS; attempt++)
    longest = await measureStall(each, app.url, API_KEY, members[1] ?? '', readCpuClock);
  expect(longest).toBeLessThan(MOST_MILLIS);
});

test('a SCIM group PATCH is refused if filters scan too many members', async () => {
  const { uuid } = await aGroup(app, { members: members.slice(0, 300) });
  const buildRemove = (end: number) => ({ op: 'remove', path: `members[value ew "none ${end}"]` });
  const send = (count: number) =>
    scim.patch(`/Groups/${uuid}`, ...Array.from({ length: count }, (_, n) => buildRemove(n)));
  expect((await send(3)).status).toBe(200);
  expect(errorOf(await send(4)).slice(0, 2)).toEqual([400, 'tooMany']);
});

test('a SCIM user PATCH is refused if filters need too many comparisons', async () => {
  const value = Array.from({ length: 50 }, (_, n) => ({ value: `Entitlement ${n}`, type: 'x' }));
  const parts = Array.from({ length: 20 }, (_, n) => `value co "none ${n}"`).join(' or ');
  const buildReplace = (count: number) => ({
    op: 'replace',
    path: `entitlements[${parts} or type eq "x"].display`.replace(' or value co "none 19"', ''),
    value: `Display ${count}`,
  });
  await scim.patch(`/Users/${id}`, { op: 'replace', path: 'entitlements', value });
  const send = (count: number) =>
    scim.patch(`/Users/${id}`, ...Array.from({ length: count }, (_, n) => buildReplace(n)));
  expect((await send(20)).status).toBe(200);
  expect(errorOf(await send(21)).slice(0, 2)).toEqual([400, 'tooMany']);
  expect((await scim.get(`/Users/${id}`)).body.entitlements[0].display).toBe('Display 19');
});
