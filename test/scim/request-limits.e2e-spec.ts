import { beforeAll, expect, test } from '@jest/globals';
import { setUpApp } from '../support/app/app.js';
import type { Answer } from '../support/app/client.js';
import { aGroup } from '../support/app/groups.js';
import { type ScimClient, errorOf, provision, scimOf } from '../support/app/scim.js';
import { group, patch, sendBulk } from '../support/app/scim-bulk.js';
import { seedUsers, seededUuid } from '../support/app/seed.js';

/** Large SCIM requests do not delay other requests, and requests that cost too much are refused. */
const USERS = 300;
const app = setUpApp({ SCIM_SCAN_LIMIT: '1000' });
let scim: ScimClient;
let id: string;
beforeAll(async () => {
  scim = scimOf(app);
  await seedUsers(app, 0, USERS);
  ({ id } = await provision(scim));
});

const members = Array.from({ length: USERS }, (_, n) => seededUuid(n));

/** Counts the reads that are answered one after the other while the request is running. */
async function countReads(request: Promise<Answer>): Promise<number> {
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
])('SCIM reads get responses during a large Bulk on %s', async (_, operations) => {
  expect(await countReads(sendBulk(scim, operations()))).toBeGreaterThan(20);
});

test('a SCIM group PATCH is refused if filters scan too many members', async () => {
  const { uuid } = await aGroup(app, { members });
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
