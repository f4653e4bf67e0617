import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { v7 as uuidv7 } from 'uuid';
import type { Caller } from '../../src/access/actor.js';
import { TransactionRunner } from '../../src/platform/database/transaction-runner.js';
import type { ChangeOutcome, UserChange } from '../../src/users/writer/change-set.js';
import { UserWriter } from '../../src/users/writer/user-writer.service.js';
import { setUpApp } from '../support/app/app.js';
import type { Json } from '../support/app/client.js';
import { runImport, rowsOf, awaitRun } from '../support/app/imports.js';
import {
  type Person,
  type Seeded,
  changeOf,
  file,
  options,
  person,
  toFile,
} from '../support/data/plan-cases.js';
import { databaseOf } from '../support/app/people.js';

/**
 * The plan of a file predicts what the writer does with each row. For random users and files, the outcome and error code
 * of every row are the same in the plan, after its batches are applied, and when the writer applies the whole file as one
 * set. If single requests succeed in some order, they lead to the same users. `JUDGE_CASES` sets the number of cases.
 */
const CASES = Number(process.env['JUDGE_CASES'] ?? 100);
const TABLES = [
  'user_identifiers',
  'user_roles',
  'user_values',
  'user_words',
  'audit_events',
  'import_rows',
  'import_runs',
];
const SYSTEM: Caller = { actor: { kind: 'system', id: null }, requestId: 'test', ip: '' };
const IMPORT: Caller = {
  ...SYSTEM,
  actor: { kind: 'import', id: uuidv7(), initiator: SYSTEM.actor, approver: null, allowsPrivileged: true },
};

const app = setUpApp();

async function clear(): Promise<void> {
  for (const table of [...TABLES, 'users', 'user_counts'])
    await databaseOf(app).execute(`DELETE FROM ${table}`);
}

/** Replaces all users with the given people. */
async function seed(people: readonly Person[]): Promise<Seeded[]> {
  await clear();
  const users = people.map(({ external, status, dataset }, index): Seeded => ({
    uuid: uuidv7(),
    external: external ? `k${index}` : '',
    username: `n${index}`,
    email: `m${index}@x.example`,
    blockedBy: status === 'Blocked' ? dataset : null,
  }));
  await restore(people, users);
  return users;
}

async function restore(people: readonly Person[], users: readonly Seeded[]): Promise<void> {
  const changes = people.map((one, index): UserChange => {
    const { uuid = '', external = '', username = '', email = '', blockedBy = null } = users[index] ?? {};
    const manager = one.manager < index ? users[one.manager]?.uuid : undefined;
    return {
      kind: 'create',
      uuid,
      patch: {
        username,
        email,
        external_id: external || null,
        status: one.status,
        roles: one.webmaster ? ['Webmaster'] : null,
        manager_uuid: manager ?? null,
        managed_by: one.dataset,
        blocked_by: blockedBy,
      },
    };
  });
  const outcomes = await app.app
    .get(TransactionRunner)
    .run((tx) => app.app.get(UserWriter).apply(tx, changes, SYSTEM));
  expect(outcomes.filter(({ outcome }) => outcome !== 'created')).toEqual([]);
}

/** An outcome such as `created`, or `error <code>`. Unchanged rows are not stored. */
type Result = string;
/** Reads the results of a run by line. Omits messages and names, because they show conflicting users as they are now. */
const resultsOf = async (run: string): Promise<Map<number, { result: Result; errors: Json[] }>> => {
  const rows = await rowsOf(app.key, run, 'limit=100');
  return new Map(
    rows.map(({ line, outcome, errors }) => [
      line,
      {
        result: outcome === 'error' ? `error ${errors[0].code}` : outcome,
        errors: errors.map(({ message: _, user: _user, ...error }: Json) => error),
      },
    ]),
  );
};

/** Codes of rows that fail without other rows. The API refuses such a request before it reaches the writer. */
const OWN = new Set(['required', 'privileged_user', 'exclusive_roles', 'self_reference', 'self_block']);

const nameOfOutcome = (outcome: ChangeOutcome | undefined): Result => {
  if (!outcome) return 'missing';
  if (outcome.outcome === 'error') return `error ${outcome.failures[0]?.code ?? ''}`;
  const status = outcome.changes.list.find(({ field }) => field === 'status');
  if (outcome.outcome !== 'updated' || !status) return outcome.outcome;
  return status.new === 'Blocked' ? 'blocked' : 'reactivated';
};

const ROLLBACK = new Error('rollback of a trial');

/** Applies a set of changes and rolls it back. @returns the outcomes. */
async function tryChanges(changes: readonly UserChange[]): Promise<ChangeOutcome[]> {
  let outcomes: ChangeOutcome[] = [];
  await app.app
    .get(TransactionRunner)
    .run(async (tx) => {
      outcomes = await app.app.get(UserWriter).apply(tx, changes, IMPORT);
      throw ROLLBACK;
    })
    .catch((error: unknown) => {
      if (error !== ROLLBACK) throw error;
    });
  return outcomes;
}

/** Returns all users with the fields that a file can change, and with the usernames of their managers. */
async function readUsers(): Promise<string[]> {
  const rows = await databaseOf(app).query<Record<string, string | null>>(
    `SELECT u.username, u.email, u.external_id, u.status, u.roles, m.username AS manager
     FROM users u LEFT JOIN users m ON m.uuid = u.manager_uuid`,
  );
  return rows.map((one) => JSON.stringify(one)).sort();
}

/** Sends each change as a request and repeats refused requests. @returns false if not all succeed in any order. */
async function sendOneByOne(changes: readonly UserChange[]): Promise<boolean> {
  const newUuids = new Map<string, string>();
  const toReal = (uuid: string): string => newUuids.get(uuid) ?? uuid;
  let waiting = [...changes];
  for (let progress = true; progress && waiting.length > 0;) {
    progress = false;
    const refused: UserChange[] = [];
    for (const change of waiting) {
      const { managed_by: _, ...patch } = change.patch;
      const body = { ...patch, ...(patch.manager_uuid && { manager_uuid: toReal(patch.manager_uuid) }) };
      const answer =
        change.kind === 'create'
          ? await app.key.post('/users', body)
          : await app.key.put(`/users/${change.uuid}`, body);
      if (answer.status >= 400) refused.push(change);
      else if (change.kind === 'create') newUuids.set(change.uuid, answer.body.uuid);
      if (answer.status < 400) progress = true;
    }
    waiting = refused;
  }
  return waiting.length === 0;
}

test(
  'a random import, its plan and single requests have the same results',
  async () => {
    const seen = new Map<string, number>();
    const count = (what: string): void => void seen.set(what, (seen.get(what) ?? 0) + 1);
    await fc.assert(
      fc.asyncProperty(
        fc.array(person, { minLength: 2, maxLength: 8 }),
        file,
        options,
        async (people, rows, chosen) => {
          const users = await seed(people);
          const { adopt, blank, mode, dataset } = chosen;
          const plan = await runImport(
            app.key,
            toFile(rows, chosen),
            `dry_run=true&allow_privileged=true&missing=keep&adopt=${adopt}&blank_cells=${blank}&mode=${mode}&dataset=${dataset}`,
          );
          expect(plan.state).toBe('planned');
          const planned = await resultsOf(plan.id);

          // One set of the writer: every row that could be a single request.
          const byKey = new Map(
            users.filter(({ external }) => external !== '').map((user) => [user.external, user]),
          );
          const created = new Map<string, string>();
          const uuidOf = (external: string): string => {
            const known = byKey.get(external)?.uuid ?? created.get(external);
            const uuid = known ?? uuidv7();
            if (known === undefined) created.set(external, uuid);
            return uuid;
          };
          const sent = rows.flatMap((one, index) => {
            const line = index + 2;
            const { result = 'unchanged', errors = [] } = planned.get(line) ?? {};
            const external = `k${one.id}`;
            const repeated = errors.some(
              ({ field, code }: Json) => field === 'external_id' && code === 'duplicate',
            );
            if (result === 'skipped' || repeated || OWN.has(result.replace('error ', ''))) return [];
            if (rows.findIndex(({ id }) => id === one.id) !== index) return []; // a repeated row, or a row of an unchanged user
            if (adopt !== 'none' && !byKey.has(external)) return []; // only the planner finds users to adopt
            return [{ line, result, change: changeOf(one, byKey.get(external), uuidOf, chosen) }];
          });
          const comparable = adopt === 'none' || rows.every(({ id }) => byKey.has(`k${id}`));
          if (comparable) {
            const outcomes = await tryChanges(sent.map(({ change }) => change));
            const written = outcomes.map((outcome, index) => [sent[index]?.line, nameOfOutcome(outcome)]);
            expect(written).toEqual(sent.map(({ line, result }) => [line, result]));
          }

          // The plan, applied in its batches.
          expect((await app.key.post(`/imports/${plan.id}/apply`)).status).toBe(202);
          const run = await awaitRun(app.key, plan.id);
          expect([run.state, run.counts]).toEqual([
            plan.counts.error > 0 ? 'completed_with_errors' : 'completed',
            plan.counts,
          ]);
          expect(await resultsOf(plan.id)).toEqual(planned);
          for (const { result } of planned.values()) count(result);

          // Single requests.
          if (!comparable) return;
          const end = await readUsers();
          await clear();
          await restore(people, users);
          const good = sent.filter(({ result }) => !result.startsWith('error') && result !== 'unchanged');
          if (await sendOneByOne(good.map(({ change }) => change))) {
            count('an order exists');
            expect(await readUsers()).toEqual(end);
          } else count('no order exists');
        },
      ),
      { numRuns: CASES, endOnFailure: process.env['JUDGE_SHRINK'] === undefined },
    );
    const common = [
      'created',
      'updated',
      'blocked',
      'error username_taken',
      'error duplicate',
      'an order exists',
    ];
    expect(common.filter((what) => !seen.has(what))).toEqual([]);
    if (CASES > 1000) console.log(Object.fromEntries([...seen].sort(([, a], [, b]) => b - a)));
  },
  60_000 + CASES * 1000,
);
