import {
  type EvaluatedGuard,
  evaluateGuards,
  sumEarlierCounts,
} from '../../src/import/guards/guard-evaluation.js';
import { LimitSettings } from '../../src/import/guards/guard-limits.js';
import type { MatchedUsers } from '../../src/import/guards/matched-users.js';
import { UnlistedWords } from '../../src/import/mapping/unlisted-words.js';
import { iterate, toManagedUser } from '../../test/support/data/guard-plan.js';
import type { Organisation } from './organisation.js';
import { planNight } from './plan-night.js';

const LIMITS = new LimitSettings('normal', new Map());
const RUNS = 30;
const DAYS = 30;
/** With so many users, their values are counted only once a week and on nights with many changes, to save time. */
const MANY_USERS = 5000;

/** A run of an earlier night. */
interface Run extends Pick<ReturnType<typeof planNight>, 'failed' | 'written'> {
  id: string;
  night: number;
  approved: boolean;
  guards: readonly EvaluatedGuard[];
  applied_batches: number;
  file_sha256: string;
}

/** Imports the file of each night, and approves every run that the guards stop. */
export class Operator {
  /** Earlier runs, newest first. */
  private runs: Run[] = [];
  private counted: MatchedUsers | undefined;

  constructor(private readonly org: Organisation) {}

  /** Returns the guards that stop the run. */
  async importFile(night: number, time: string): Promise<EvaluatedGuard[]> {
    const { size, before } = this.org;
    const isCounted = size < MANY_USERS || night % 7 === 0 || before.size > size / 50;
    const { failed, written, ...facts } = planNight(this.org, time, isCounted ? undefined : this.counted);
    this.counted = facts.users;
    const { runs } = this;
    const changing = runs.filter((run) => run.written.length > 0);
    const find = ({ id }: { id: string }) => runs.find((run) => run.id === id);
    const plan = {
      ...facts,
      ...{ defaultRoles: [], words: new UnlistedWords(), isKnownFile: () => Promise.resolve(false) },
      past: {
        isFirst: false,
        last: { id: runs[0]?.id ?? '', guards: [], line_ended: null },
        ...{ knownWords: undefined, changing: changing.slice(0, RUNS), reverts: [] },
      },
      readRows: () => iterate(written),
      readFailedRows: (run?: { id: string }) => iterate(run ? (find(run)?.failed ?? []) : failed),
      readAppliedRows: (run: { id: string }) => iterate(find(run)?.written ?? []),
      readScope: () => iterate([listActive(this.org)]),
    };
    const limits = LIMITS.getLimits(facts.scope.users, undefined);
    const earlier = changing.filter((run) => run.night >= night - DAYS);
    const guards = await evaluateGuards(plan, limits, sumEarlierCounts(earlier));
    const hits = guards.filter(({ hit }) => hit);
    const details = {
      id: String(night),
      night,
      approved: hits.length > 0,
      applied_batches: 1,
      file_sha256: '',
    };
    this.runs = [{ ...details, failed, written, guards }, ...runs.slice(0, 2 * DAYS)];
    return hits;
  }
}

/** Lists the active users before the changes of this night. */
const listActive = ({ people, before }: Organisation) =>
  people
    .map((person) => before.get(person) ?? person.user)
    .filter(({ status }) => status === 'Active')
    .map(toManagedUser);
