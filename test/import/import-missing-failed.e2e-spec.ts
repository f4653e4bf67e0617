import { expect, test } from '@jest/globals';
import { setUpApp } from '../support/app/app.js';
import { LAX_GUARDS } from '../support/app/guards.js';
import { csv, decide, runImport, findUser } from '../support/app/imports.js';

/** A user who is identified by a failed row does not count as missing, whatever the error is. */
const app = setUpApp(LAX_GUARDS);

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
const statusesOf = async (ids: readonly string[]) =>
  Promise.all(ids.map(async (id) => (await findUser(app.key, id)).status));

/** Damaged rows of user 4. The file also has the undamaged rows of users 0 to 3, and lacks user 5. */
const DAMAGES: [string, (set: string) => string[][]][] = [
  ['a number as ExternalId', (set) => [person(set, 4).with(0, '1.23457E+12')]],
  ['a spreadsheet error as ExternalId', (set) => [person(set, 4).with(0, '#N/A')]],
  ['a blank ExternalId', (set) => [person(set, 4).with(0, '')]],
  ['a broken character in the ExternalId', (set) => [person(set, 4).with(0, '\uFFFD-4')]],
  ['an overlong ExternalId', (set) => [person(set, 4).with(0, 'x'.repeat(300))]],
  ['an unknown ExternalId', (set) => [person(set, 4).with(0, `${set}-unknown`)]],
  ['the ExternalId of an earlier row', (set) => [person(set, 4).with(0, `${set}-2`)]],
  ['the ExternalId of a later row', (set) => [person(set, 4).with(0, `${set}-8`)]],
  ['only a username', (set) => [person(set, 4).with(0, '').with(2, '#N/A')]],
  ['only an e-mail', (set) => [person(set, 4).with(0, '').with(1, '')]],
  ['username and e-mail swapped', (set) => [['', person(set, 4)[2], person(set, 4)[1], '']]],
  ['only a username in upper case', (set) => [['', ` ${set.toUpperCase()}.NAME4 `, '', '']]],
  ['too few cells', (set) => [['', ...person(set, 4).slice(1, 3)]]],
  ['too many cells', (set) => [['x', '', ...person(set, 4).slice(1)]]],
  ['an invalid phone', (set) => [person(set, 4).with(3, '#REF!')]],
];

test.each(DAMAGES)('users of failed rows are not missing: %s', async (name, damaged) => {
  const set = `f-${name.replaceAll(' ', '-')}`;
  const rows = people(set);
  await runImport(app.key, file(rows), `dataset=${set}`);
  const sent = [...rows.slice(0, 4), ...damaged(set), ...rows.slice(6)];
  const run = await runImport(app.key, file(sent), `dataset=${set}&missing=block`);
  expect([run.state, run.missing]).toEqual(['completed_with_errors', { reported: 1, blocked: 1 }]);
  expect(await statusesOf([`${set}-2`, `${set}-4`, `${set}-5`])).toEqual(['Active', 'Active', 'Blocked']);
});

test('a plan created again at the approval has the same missing users', async () => {
  const rows = people('again');
  await runImport(app.key, file(rows), 'dataset=again');
  const sent = [...rows.slice(0, 4), person('again', 4).with(0, '#N/A'), ...rows.slice(6)];
  const plan = await runImport(app.key, file(sent), 'dataset=again&missing=block&dry_run=true');
  expect([plan.state, plan.missing]).toEqual(['planned', { reported: 1, blocked: 1 }]);
  const run = await decide(app.key, plan.id, 'apply');
  expect([run.state, run.missing]).toEqual(['completed_with_errors', { reported: 1, blocked: 1 }]);
});
