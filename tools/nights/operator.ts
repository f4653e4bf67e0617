import {
  type EvaluatedGuard,
  evaluateGuards,
  sumEarlierCounts,
} from '../../src/import/guards/guard-evaluation.js';
import { LimitSettings } from '../../src/import/guards/guard-limits.js';
import { UnlistedWords } from '../../src/import/mapping/unlisted-words.js';
import type { StagedRow } from '../../src/import/runs/import-row.js';
import { toLoginKey, toNameSortKey } from '../../src/users/model/comparison-keys.js';
import type { ManagedUser } from '../../src/users/search/user-directory.service.js';
import type { Organisation } from './organisation.js';
import { planNight } from './plan-night.js';

const LIMITS = new LimitSettings('normal', new Map());
const RUNS = 30;
const DAYS = 30;

interface Run {
  id: string;
  night: number;
  rows: readonly StagedRow[];
  failed: readonly StagedRow[];
  approved: boolean;
  guards: readonly EvaluatedGuard[];
  applied_batches: number;
  file_sha256: string;
}

/** Imports the file of each night, and approves every run that the guards stop. */
export class Operator {
  /** Earlier runs, newest first. */
  private runs: Run[] = [];

  constructor(private readonly org: Organisation) {}

  /** Returns the guards that stop the run. */
  async importFile(night: number): Promise<EvaluatedGuard[]> {
    const { count, users, scope, rows, failed } = planNight(this.org);
    const { runs } = this;
    const changing = runs.filter((run) => run.rows.length > 0);
    const find = (id: string | undefined) => runs.find((run) => run.id === id);
    const plan = {
      ...{ rows: count, users, scope, defaultRoles: [], words: new UnlistedWords() },
      past: {
        last: { id: runs[0]?.id ?? '', guards: [], line_ended: null },
        knownWords: undefined,
        changing: changing.slice(0, RUNS),
        reverts: [],
      },
      isKnownFile: () => Promise.resolve(false),
      readRows: () => iterate(rows),
      readFailedRows: (run?: { id: string }) => iterate(run ? (find(run.id)?.failed ?? []) : failed),
      readAppliedRows: (run: { id: string }) => iterate(find(run.id)?.rows ?? []),
      readScope: () => iterate([listActive(this.org)]),
    };
    const earlier = changing.filter((run) => run.night >= night - DAYS);
    const guards = await evaluateGuards(
      plan,
      LIMITS.getLimits(scope.users, undefined),
      sumEarlierCounts(earlier),
    );
    const hits = guards.filter(({ hit }) => hit);
    const approved = hits.length > 0;
    const run = {
      id: String(night),
      night,
      rows,
      failed,
      approved,
      guards,
      applied_batches: 1,
      file_sha256: '',
    };
    this.runs = [run, ...runs.slice(0, 2 * DAYS)];
    return hits;
  }
}

/** Lists the active users before the changes of this night. */
function listActive({ people, before }: Organisation): ManagedUser[] {
  const users = people.map((person) => before.get(person) ?? person.user);
  return users.flatMap(({ username, email, surname, ...user }) => {
    const keys = {
      username_key: toLoginKey(username),
      email_key: toLoginKey(email),
      surname_sort: toNameSortKey(surname),
    };
    return user.status === 'Active' ? [{ ...user, ...keys, isWebmaster: false }] : [];
  });
}

async function* iterate<T>(items: readonly T[]): AsyncIterable<T> {
  yield* items;
}
