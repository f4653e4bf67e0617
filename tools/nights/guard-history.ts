import { evaluateGuards, type EvaluatedGuard } from '../../src/import/guards/guard-evaluation.js';
import { LimitSettings } from '../../src/import/guards/guard-limits.js';
import type { EarlierRun, Plan } from '../../src/import/guards/plan.js';
import { UnlistedWords } from '../../src/import/mapping/unlisted-words.js';
import type { StagedRow } from '../../src/import/runs/import-row.js';
import { toLoginKey, toNameSortKey } from '../../src/users/model/comparison-keys.js';
import type { ManagedUser } from '../../src/users/search/user-directory.service.js';
import type { Organisation } from './organisation.js';
import type { NightPlan } from './plan-night.js';

const LIMITS = new LimitSettings('normal', new Map());
const SUM_NIGHTS = 30;
const RUNS = 30;

interface Run extends EarlierRun {
  night: number;
  staged: readonly StagedRow[];
  failed: readonly StagedRow[];
  guards: readonly EvaluatedGuard[];
}

/** Evaluates the guards of each night. Keeps what they compare a file with: earlier runs, and sums of 30 days. */
export class GuardHistory {
  private readonly runs: Run[] = [];
  /** Night of the last approval of each guard, which ends its sum. */
  private readonly approvals = new Map<string, number>();

  /** Returns the guards that ask. The simulated operator approves the run. */
  async evaluate(org: Organisation, planned: NightPlan): Promise<EvaluatedGuard[]> {
    const night = org.night.number;
    const { rows, users, staged, failed } = planned;
    const scope = { users: users.count + planned.missing, active: users.active + planned.missing };
    const last = this.runs.at(-1);
    const find = (run?: { id: string }) => this.runs.find(({ id }) => id === run?.id);
    const plan: Plan = {
      ...{ rows, users, scope, defaultRoles: [], words: new UnlistedWords() },
      past: {
        last: { id: last?.id ?? '', guards: [], line_ended: null },
        knownWords: undefined,
        changing: this.runs
          .filter((run) => run.staged.length > 0)
          .slice(-RUNS)
          .reverse(),
        reverts: [],
      },
      isKnownFile: () => Promise.resolve(false),
      readRows: () => iterate(staged),
      readFailedRows: (run) => iterate(run ? (find(run)?.failed ?? []) : failed),
      readAppliedRows: (run) => iterate(find(run)?.staged ?? []),
      readScope: () => iterate([listActive(org)]),
    };
    const guards = await evaluateGuards(plan, LIMITS.getLimits(scope.users, undefined), (name, field) =>
      this.sum(name, field, night),
    );
    const hits = guards.filter(({ hit }) => hit);
    for (const { name } of hits) this.approvals.set(name, night);
    const counted = hits.length > 0 ? [] : guards;
    this.runs.push({
      id: String(night),
      applied_batches: 1,
      file_sha256: '',
      night,
      staged,
      failed,
      guards: counted,
    });
    if (this.runs.length > 2 * SUM_NIGHTS) this.runs.shift();
    return hits;
  }

  private sum(name: string, field: string | null, night: number): number {
    const since = Math.max(night - SUM_NIGHTS, this.approvals.get(name) ?? -1);
    let sum = 0;
    for (const run of this.runs)
      if (run.night > since)
        for (const guard of run.guards) if (guard.name === name && guard.field === field) sum += guard.value;
    return sum;
  }
}

/** Lists the active users before the changes of this night. */
const listActive = ({ before, file }: Organisation): ManagedUser[] =>
  [...new Set([...file, ...before.keys()])].flatMap((person) => {
    const user = before.get(person) ?? person.user;
    const { username, email, surname } = user;
    const keys = {
      username_key: toLoginKey(username),
      email_key: toLoginKey(email),
      surname_sort: toNameSortKey(surname),
    };
    return user.status === 'Active' ? [{ ...user, ...keys, isWebmaster: false }] : [];
  });

async function* iterate<T>(items: readonly T[]): AsyncIterable<T> {
  yield* items;
}
