import { expect, test } from '@jest/globals';
import { v7 as uuidv7 } from 'uuid';
import { TransactionRunner } from '../../src/platform/database/transaction-runner.js';
import type { ChangeOutcome, UserChange } from '../../src/users/writer/change-set.js';
import { UserWriter } from '../../src/users/writer/user-writer.service.js';
import { SessionsService } from '../../src/sessions/sessions.service.js';
import { UserWriteRepository } from '../../src/users/writer/user-write.repository.js';
import { setUpApp } from '../support/app/app.js';
import { traceStatements } from '../support/app/counting.js';
import { SYSTEM, codesOf, update } from '../support/app/deletion.js';

const app = setUpApp();

/** Applies a change set and returns its outcomes and its SQL statements. */
async function apply(changes: UserChange[]): Promise<{ outcomes: ChangeOutcome[]; statements: string[] }> {
  return app.app.get(TransactionRunner).run(async (tx) => {
    const { sql, statements } = traceStatements(tx);
    return { outcomes: await app.app.get(UserWriter).apply(sql, changes, SYSTEM), statements };
  });
}

const buildPeople = (beginning: string, count: number): UserChange[] =>
  Array.from({ length: count }, (_, n) => ({
    kind: 'create',
    uuid: uuidv7(),
    patch: {
      username: `${beginning} ${n}`,
      email: `${beginning}.${n}@example.org`,
      external_id: `${beginning}-${n}`,
      firstname: 'Kim',
      surname: `Number ${n}`,
    },
  }));
const idsOf = (outcomes: ChangeOutcome[]): string[] =>
  outcomes.map((outcome) => (outcome.outcome === 'error' ? '' : outcome.user.uuid));

/** Replaces consecutive statements that write users with `users`, because only SQLite needs one UPDATE per user. */
const shorten = (statements: string[]): string[] =>
  statements
    .map((statement) => statement.replace(/^(UPDATE|INSERT INTO) users\b[^]*/, 'users'))
    .filter((name, index, all) => name !== 'users' || all[index - 1] !== name);

test('a change set of 200 users needs no extra SQL statements', async () => {
  const one = await apply(buildPeople('one', 1));
  const many = await apply(buildPeople('many', 200));
  expect(codesOf(many.outcomes)).toEqual(Array(200).fill('created'));
  expect(many.statements).toEqual(one.statements);
  expect(many.statements.length).toBeLessThanOrEqual(8);

  const change = (list: string[]) =>
    apply(list.map((uuid) => update(uuid, { surname: 'Changed', phone: '+44 1' })));
  const changedOne = await change(idsOf(one.outcomes));
  const changedMany = await change(idsOf(many.outcomes));
  expect(codesOf(changedMany.outcomes)).toEqual(Array(200).fill('updated'));
  expect(shorten(changedMany.statements)).toEqual(shorten(changedOne.statements));

  const unchanged = await change(idsOf(many.outcomes));
  expect(codesOf(unchanged.outcomes)).toEqual(Array(200).fill('unchanged'));
  expect(unchanged.statements).toEqual([expect.stringMatching(/^SELECT/)]);
});

test('an invalid change does not affect other changes of the set', async () => {
  const [first] = idsOf((await apply(buildPeople('partial', 1))).outcomes);
  const aNew = (username: string): UserChange => ({
    kind: 'create',
    uuid: uuidv7(),
    patch: { username, email: `${uuidv7()}@example.org` },
  });
  const { outcomes } = await apply([
    aNew('partial good'),
    aNew('PARTIAL 0'),
    update(first ?? '', { manager_uuid: first ?? '' }),
    update('01234567-0123-0123-0123-0123456789ab', { phone: '1' }),
    aNew('partial good 2'),
  ]);
  const refused = ['username_taken', 'validation_failed', 'not_found'];
  expect(codesOf(outcomes)).toEqual(['created', ...refused, 'created']);
});

test('change set queries accept more values than one statement can bind', async () => {
  const values = Array.from({ length: 70_000 }, () => uuidv7());
  const [repository, sessions] = [app.app.get(UserWriteRepository), app.app.get(SessionsService)];
  await app.app.get(TransactionRunner).run(async (tx) => {
    expect((await repository.lock(tx, values)).size).toBe(0);
    expect((await repository.findOwners(tx, values)).size).toBe(0);
    expect((await repository.findManagers(tx, values)).size).toBe(0);
    await sessions.endForUsers(tx, values);
  });
});
