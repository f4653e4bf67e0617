import { beforeEach, expect, test } from '@jest/globals';
import { setUpApp } from '../support/app/app.js';
import type { Json } from '../support/app/client.js';
import { aKey } from '../support/app/credentials.js';
import { csv, decide, guardOf, runImport, findUser } from '../support/app/imports.js';
import { databaseOf, inSeconds } from '../support/app/people.js';

/** Guards that compare a run with earlier runs of its data set. */
const app = setUpApp();
let n = 0;
let dataset = '';
beforeEach(() => void (dataset = `h${++n}`));

type Cells = Partial<Record<'phone' | 'status' | 'mail' | 'surname', string>>;
/** Returns a file of `count` users from number `from` on, with the cells that `change` replaces. */
const fileOf = (count: number, change: (i: number) => Cells = () => ({}), from = 0): string =>
  csv(
    'ExternalId,Username,Email,Surname,Phone,Status',
    ...Array.from({ length: count }, (_, row) => {
      const i = from + row;
      const id = `${dataset}-${i}`;
      const { phone = `+44 ${1000 + i}`, status = 'Active', mail, surname = `Sun${i}` } = change(i);
      return `${id},${id},${mail ?? `${id}@example.org`},${surname},${phone},${status}`;
    }),
  );
const importFile = async (file: string, options = ''): Promise<Json> =>
  runImport(app.key, file, `dataset=${dataset}${options}`);
const send = async (count: number, change?: (i: number) => Cells, options = ''): Promise<Json> =>
  importFile(fileOf(count, change), options);
const hitsOf = (run: Json): string[] =>
  (run.guards as Json[]).filter(({ hit }) => hit).map(({ name }) => name as string);
const expectPassed = (run: Json) => expect([hitsOf(run), run.state]).toEqual([[], 'completed']);
const expectWaiting = (run: Json, ...guards: string[]) =>
  expect([hitsOf(run), run.state]).toEqual([guards, 'needs_approval']);
const approve = ({ id }: Json): Promise<Json> => decide(app.key, id, 'apply');
const revert = ({ id }: Json): Promise<Json> => decide(app.key, id, 'revert');

test('the dry run of a key with scopes waits for approval if a guard has hit since the plan', async () => {
  expectPassed(await send(50));
  const { client } = await aKey(app, 'imports:read', 'imports:write');
  const file = fileOf(3, () => ({ status: 'Blocked' }), 40);
  const plan = await runImport(client, file, `dataset=${dataset}&dry_run=true`);
  for (const count of [5, 10]) expectPassed(await send(count, () => ({ status: 'Blocked' })));
  const run = await decide(client, plan.id, 'apply');
  expectWaiting(run, 'deactivations');
  expect(run.approved_by).toBeNull();
  expect((await client.post(`/imports/${run.id}/apply`)).status).toBe(403);
  expect((await approve(run)).state).toBe('completed');
});

test('the deactivations guard adds up 30 days without approved and reverted imports', async () => {
  const finishAll = (days: number) =>
    databaseOf(app).execute(
      'UPDATE import_runs SET finished = ? WHERE dataset = ? AND finished IS NOT NULL',
      [inSeconds(-days * 24 * 3600), dataset],
    );
  /** Blocks the first users, and users from the 30th on. */
  const sendBlocked = async (first: number, more = 0): Promise<Json> =>
    send(50, (i) => (i < first || (i >= 30 && i < 30 + more) ? { status: 'Blocked' } : {}));
  expectPassed(await send(50));
  expect((await approve(await sendBlocked(15))).state).toBe('completed');
  expectPassed(await sendBlocked(20));
  const last = await sendBlocked(25);
  expectPassed(last);
  expectWaiting(await sendBlocked(26), 'deactivations');
  expect((await revert(last)).state).toBe('completed');
  expectPassed(await sendBlocked(20, 5));
  expectWaiting(await sendBlocked(20, 6), 'deactivations');
  await finishAll(29);
  expectWaiting(await sendBlocked(20, 6), 'deactivations');
  await finishAll(31);
  expectPassed(await sendBlocked(20, 6));
});

test('the old_file guard stops a file that only takes back the last changes', async () => {
  const moveSix = (i: number) => (i < 6 ? { phone: `+49 ${1000 + i}` } : {});
  expectPassed(await send(60));
  expectPassed(await send(62, moveSix));
  expectPassed(await send(62, moveSix)); // no changes
  const run = await send(62);
  expectWaiting(run, 'old_file');
  const guard = guardOf(run, 'old_file');
  expect(guard).toMatchObject({ value: 6, limit: 5 });
  const first = { line: 2, external_id: `${dataset}-0`, name: 'Sun0' };
  expect(guard.examples[0]).toEqual({ ...first, old: '+49 1000', new: '+44 1000' });
  expectPassed(await send(62, (i) => (i === 40 ? { phone: '+49 1040' } : {}))); // a correction brings something new
});

test('the old_file guard counts missing users created by the last import', async () => {
  expectPassed(await send(60));
  expectPassed(await send(66, undefined, '&missing=block'));
  expectWaiting(await send(60, undefined, '&missing=block'), 'old_file');
});

test('importing users of another data set needs approval only once', async () => {
  expectPassed(await send(40));
  const importOther = (change?: (i: number) => Cells) =>
    runImport(app.key, fileOf(40, change), `dataset=${dataset}-typo`);
  const run = await importOther();
  expectWaiting(run, 'foreign_dataset');
  expect(guardOf(run, 'foreign_dataset')).toMatchObject({ value: 40, limit: 4 });
  expect((await approve(run)).state).toBe('completed');
  expectPassed(await importOther((i) => (i < 2 ? { phone: '+49 1000' } : {})));
  expectPassed(await importOther((i) => (i < 3 ? { phone: '+49 1000' } : {})));
});

test('the first file of a part needs approval once to take a user from another part', async () => {
  const sendPart = async (part: string, from: number, to: number) =>
    importFile(fileOf(to - from, undefined, from), `&part=${part}&missing=block`);
  expectPassed(await sendPart('north', 0, 40));
  const first = await sendPart('south', 39, 50);
  expectWaiting(first, 'foreign_dataset');
  expect(first.guards[0]).toMatchObject({ value: 1, limit: 0, examples: [{ old: 'north', new: 'south' }] });
  expect(await findUser(app.key, `${dataset}-45`)).toBeUndefined();
  expect((await approve(first)).state).toBe('completed');
  expectPassed(await sendPart('south', 38, 50));
  expectPassed(await sendPart('east', 50, 60)); // takes no user
});

test('the errors guard ignores errors repeated from the last import', async () => {
  expectPassed(await send(60));
  const failRows = (from: number, to: number) => (i: number) => (i >= from && i < to ? { mail: 'x' } : {});
  const first = await send(60, failRows(0, 8));
  expectWaiting(first, 'errors');
  const change = { old: null, new: 'Email must be an e-mail address' };
  const example = { line: 2, external_id: `${dataset}-0`, name: 'Sun0', ...change };
  expect(guardOf(first, 'errors').examples[0]).toEqual(example);
  expect((await approve(first)).state).toBe('completed_with_errors');
  const same = await send(60, failRows(0, 8));
  expect([hitsOf(same), same.state]).toEqual([[], 'completed_with_errors']);
  expectWaiting(await send(60, failRows(8, 16)), 'errors');
});

test('an import needs approval to repeat changes that a revert undid', async () => {
  const move = (i: number) => (i < 2 ? { phone: `+49 ${1000 + i}` } : {});
  expectPassed(await send(60));
  const moved = await send(62, move);
  expectPassed(moved);
  const undo = await revert(moved);
  const run = await send(63, move);
  expectWaiting(run, 'after_revert');
  expect(run.guards[0]).toMatchObject({
    value: 4,
    limit: 0,
    examples: [
      { name: 'Sun0', old: '+44 1000', new: '+49 1000' },
      { name: 'Sun1' },
      { name: 'Sun60', old: 'Blocked', new: 'Active' },
      { name: 'Sun61' },
    ],
  });
  expectPassed(await send(60, (i) => (i === 40 ? { phone: '+49 1040' } : {})));
  expect((await revert(undo)).state).toMatch(/^completed/);
  expectPassed(await send(62, move));
});

test('a plan created again at the approval has the same guard results', async () => {
  expectPassed(await send(60));
  expectPassed(await send(60, (i) => (i < 6 ? { phone: `+49 ${1000 + i}` } : {})));
  const run = await send(60, (i) => ({
    phone: `+33 ${1000 + ((i + 1) % 60)}`,
    surname: i < 30 ? 'Same' : `Sun${i}`,
  }));
  expect(run.state).toBe('needs_approval');
  const done = await approve(run);
  expect([done.state, done.guards]).toEqual(['completed', run.guards]);
});
