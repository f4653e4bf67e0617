import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { TestApp } from '../support/app/app.js';
import type { Answer } from '../support/app/client.js';
import { aGroup } from '../support/app/groups.js';
import { type ScimClient, errorOf, provision, scimOf } from '../support/app/scim.js';
import { group, patch, sendBulk } from '../support/app/scim-bulk.js';
import { seedUsers, seededUuid } from '../support/app/seed.js';

/** No request holds up another: what is large gives way, and what cannot is refused (interface.md, section 9). */
const USERS = 300;
let app: TestApp;
let scim: ScimClient;
let id: string;
beforeAll(async () => {
  app = await TestApp.start({ SCIM_SCAN_LIMIT: '1000' });
  scim = scimOf(app);
  await seedUsers(app, 0, USERS);
  ({ id } = await provision(scim));
});
afterAll(() => app.end());

const members = Array.from({ length: USERS }, (_, n) => seededUuid(n));

/** @returns how many reads, one after the other, were answered while the request was worked on. */
async function readsBeside(request: Promise<Answer>): Promise<number> {
  let reads = 0;
  const end = request.then(({ status }) => status);
  let status: number | undefined;
  while (status === undefined) {
    await scim.get(`/Users/${id}?attributes=userName`);
    reads++;
    status = await Promise.race([end, Promise.resolve(undefined)]);
  }
  expect(status).toBe(200);
  return reads;
}

test.each([
  ['one user', () => Array.from({ length: 200 }, (_, n) => patch(id, 'title', `Title ${n}`))],
  ['groups', () => Array.from({ length: 100 }, (_, n) => group(`g${n}`, ...members.slice(0, 20)))],
])('reads are answered between the operations of a Bulk on %s', async (_, operations) => {
  expect(await readsBeside(sendBulk(scim, operations()))).toBeGreaterThan(20);
});

test('filters of one PATCH look at no more members together than one filter may', async () => {
  const { uuid } = await aGroup(app, { members });
  const remove = (end: number) => ({ op: 'remove', path: `members[value ew "none ${end}"]` });
  const all = (count: number) =>
    scim.patch(`/Groups/${uuid}`, ...Array.from({ length: count }, (_, n) => remove(n)));
  expect((await all(3)).status).toBe(200);
  expect(errorOf(await all(4)).slice(0, 2)).toEqual([400, 'tooMany']);
});

test('filters of one PATCH make a bounded number of comparisons with the elements of a user', async () => {
  const value = Array.from({ length: 50 }, (_, n) => ({ value: `Entitlement ${n}`, type: 'x' }));
  const parts = Array.from({ length: 20 }, (_, n) => `value co "none ${n}"`).join(' or ');
  const replace = (count: number) => ({
    op: 'replace',
    path: `entitlements[${parts} or type eq "x"].display`.replace(' or value co "none 19"', ''),
    value: `Display ${count}`,
  });
  await scim.patch(`/Users/${id}`, { op: 'replace', path: 'entitlements', value });
  const all = (count: number) =>
    scim.patch(`/Users/${id}`, ...Array.from({ length: count }, (_, n) => replace(n)));
  expect((await all(20)).status).toBe(200);
  expect(errorOf(await all(21)).slice(0, 2)).toEqual([400, 'tooMany']);
  expect((await scim.get(`/Users/${id}`)).body.entitlements[0].display).toBe('Display 19');
});
