import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { TestApp } from '../support/app/app.js';
import { LAX_GUARDS } from '../support/app/guards.js';
import { csv, imported, linked } from '../support/app/imports.js';

/** A row that fails for any reason says of the users that it names that they are not missing. */
let app: TestApp;
beforeAll(async () => void (app = await TestApp.start(LAX_GUARDS)));
afterAll(async () => app.end());

const HEAD = 'ExternalId,Username,Email,Phone';
type Cells = [externalId: string, username: string, email: string, phone: string];
const person = (set: string, i: number): Cells => [
  `${set}-${i}`,
  `${set}.name${i}`,
  `${set}.mail${i}@example.org`,
  '',
];
const people = (set: string) => Array.from({ length: 12 }, (_, i) => person(set, i));
const file = (rows: readonly (readonly string[])[]) => csv(HEAD, ...rows.map((row) => row.join(',')));
const active = async (ids: readonly string[]) =>
  Promise.all(ids.map(async (id) => (await linked(app.key, id)).status));

/** The row of user 4 as the file has it; the users 0 to 3 are in the file as they are. */
const DAMAGES: [string, (set: string) => string[][]][] = [
  ['number', (set) => [person(set, 4).with(0, '1.23457E+12')]],
  ['look-up', (set) => [person(set, 4).with(0, '#N/A')]],
  ['blank', (set) => [person(set, 4).with(0, '')]],
  ['character', (set) => [person(set, 4).with(0, '\uFFFD-4')]],
  ['long', (set) => [person(set, 4).with(0, 'x'.repeat(300))]],
  ['other-key', (set) => [person(set, 4).with(0, `${set}-unknown`)]],
  ['neighbour', (set) => [person(set, 4).with(0, `${set}-2`)]],
  ['later-neighbour', (set) => [person(set, 4).with(0, `${set}-8`)]],
  ['username-only', (set) => [person(set, 4).with(0, '').with(2, '#N/A')]],
  ['email-only', (set) => [person(set, 4).with(0, '').with(1, '')]],
  ['exchanged', (set) => [['', person(set, 4)[2], person(set, 4)[1], '']]],
  ['other-case', (set) => [person(set, 4).with(0, '').with(1, ` ${set.toUpperCase()}.NAME4 `).with(2, '')]],
  ['short', (set) => [['', ...person(set, 4).slice(1, 3)]]],
  ['long-row', (set) => [['x', '', ...person(set, 4).slice(1)]]],
  ['phone', (set) => [person(set, 4).with(3, '#REF!')]],
];

test.each(DAMAGES)('the user of a row that failed is not missing: %s', async (name, damaged) => {
  const set = `f-${name}`;
  const rows = people(set);
  await imported(app.key, file(rows), `dataset=${set}`);
  const sent = [...rows.slice(0, 4), ...damaged(set), ...rows.slice(6)];
  const run = await imported(app.key, file(sent), `dataset=${set}&missing=block`);
  expect([run.state, run.missing]).toEqual(['completed_with_errors', { reported: 1, blocked: 1 }]);
  expect(await active([`${set}-2`, `${set}-4`, `${set}-5`])).toEqual(['Active', 'Active', 'Blocked']);
});

test('a plan that is made again for its approval is the same plan', async () => {
  const rows = people('again');
  await imported(app.key, file(rows), 'dataset=again');
  const sent = [...rows.slice(0, 4), person('again', 4).with(0, '#N/A'), ...rows.slice(6)];
  const plan = await imported(app.key, file(sent), 'dataset=again&missing=block&dry_run=true');
  expect([plan.state, plan.missing]).toEqual(['planned', { reported: 1, blocked: 1 }]);
  await app.key.post(`/imports/${plan.id as string}/apply`);
  await app.key.get(`/imports/${plan.id as string}/events`);
  const run = (await app.key.get(`/imports/${plan.id as string}`)).body;
  expect([run.state, run.missing]).toEqual(['completed_with_errors', { reported: 1, blocked: 1 }]);
});
