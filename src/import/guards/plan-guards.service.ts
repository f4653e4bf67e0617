import { Inject, Injectable } from '@nestjs/common';
import { KeyFuse } from '../../api-keys/fuse/key-fuse.service.js';
import { findUserNames } from '../../audit/audit-names.service.js';
import { truncate } from '../../platform/common/text.js';
import { addSeconds } from '../../platform/common/time.js';
import { Env } from '../../platform/config/env.js';
import { DATABASE, type Database } from '../../platform/database/engine/database.js';
import { EMPTY_USER } from '../../users/model/user.js';
import { UserDirectory } from '../../users/search/user-directory.service.js';
import type { Guard } from '../runs/import-guard.js';
import { ImportRowsRepository } from '../runs/import-rows.repository.js';
import { MAX_VALUE, NO_COUNTS, type StagedRow, displayNameOf, isApplied } from '../runs/import-row.js';
import { type ImportRun, callerOf, hasFile, userScopeOf } from '../runs/import-run.js';
import { RunPeople } from '../runs/run-people.service.js';
import { ImportRunsRepository } from '../runs/import-runs.repository.js';
import { COMPLETED } from '../runs/run-states.js';
import { LimitSettings } from './guard-limits.js';
import { type EvaluatedGuard, evaluateGuards, sumEarlierCounts } from './guard-evaluation.js';
import { BULK_GUARDS, GUARDS } from './guard-table.js';
import { MatchedUsers } from './matched-users.js';
import type { Past, Plan } from './plan.js';
import { UnlistedWords } from '../mapping/unlisted-words.js';

const MONTH_SECONDS = 30 * 24 * 3600;
const RUNS = 30;
const REVERTS = 20;
const UNWRITTEN = new Set<StagedRow['outcome']>(['error', 'skipped', 'unchanged']);

/** Facts about a plan that its planner has collected. */
export type PlannedFile = Pick<Plan, 'rows' | 'users' | 'scope' | 'words' | 'past'>;

/** Provides the guards with the rows of a plan and of the earlier runs of its data set. */
@Injectable()
export class PlanGuards {
  private readonly limits: LimitSettings;

  constructor(
    private readonly runs: ImportRunsRepository,
    private readonly rows: ImportRowsRepository,
    private readonly directory: UserDirectory,
    private readonly people: RunPeople,
    private readonly fuse: KeyFuse,
    @Inject(DATABASE) private readonly database: Database,
    env: Env,
  ) {
    this.limits = new LimitSettings(env.IMPORT_GUARDS, env.guardLimits);
  }

  async findPast(run: ImportRun): Promise<Past> {
    const earlier = await this.runs.listInScope(userScopeOf(run), COMPLETED, RUNS + 1);
    const others = earlier.filter(({ id }) => id !== run.id);
    const { words } = others.find(({ profile }) => profile?.name === run.profile?.name) ?? {};
    return {
      isFirst: others.every(({ id }) => id === run.corrects),
      last: others[0],
      knownWords: words ?? undefined,
      changing: others.filter(({ applied_batches: batches }) => batches > 0),
      reverts: await this.runs.listReverts(run.dataset, REVERTS),
    };
  }

  /** Evaluates the guards of a bulk change, whose scope is all users. */
  async evaluateBulkChange(run: ImportRun, rows: number): Promise<Guard[]> {
    const active = await this.directory.count('Active');
    const scope = { active, users: active + (await this.directory.count('Blocked')) };
    const users = new MatchedUsers([], userScopeOf(run), run.created);
    const past = { isFirst: false, last: undefined, knownWords: undefined, changing: [], reverts: [] };
    return this.evaluate(run, { rows, users, scope, words: new UnlistedWords(), past }, BULK_GUARDS);
  }

  async evaluate(run: ImportRun, file: PlannedFile, definitions = GUARDS): Promise<Guard[]> {
    const { options, profile, file_sha256: sha256 } = run;
    const scope = userScopeOf(run);
    const plan: Plan = {
      ...file,
      defaultRoles: [...EMPTY_USER.roles, ...(options.default_roles ?? [])],
      isKnownFile: async () =>
        file.past.changing[0]?.file_sha256 !== sha256 && this.runs.hasFile(scope, sha256, COMPLETED),
      readRows: () => this.readRows(run, ({ outcome }) => !UNWRITTEN.has(outcome)),
      readFailedRows: ({ id } = run) => this.rows.readAll(id, 'error'),
      readAppliedRows: (earlier) => this.readRows(earlier, (row) => isApplied(row, earlier.applied_batches)),
      readScope: () => this.directory.readActive(scope),
    };
    const limits = this.limits.getLimits(file.scope.users, profile?.guards);
    // Count back from the creation of the run, so that planning it again counts the same earlier runs.
    const since = addSeconds(run.created, -MONTH_SECONDS);
    const earlier = await this.runs.listAppliedSince(scope, since, run.id);
    const guards = await evaluateGuards(plan, limits, sumEarlierCounts(earlier), definitions);
    return this.addNames(run, guards);
  }

  /**
   * Evaluates the guard `key_fuse` of a planned run, which is the only guard of a revert. It stops a run that would blow
   * the fuse of its API key halfway. Only a different credential can approve the run.
   * @returns undefined if the run blocks no users, or if these users do not count towards a fuse.
   */
  async evaluateKeyFuse(run: ImportRun): Promise<Guard | undefined> {
    // In a revert, failed rows can block users too, because the valid changes of a failed row are applied.
    const ofFailed = run.reverts === null ? 0 : await this.rows.countBlockedByFailedRows(run.id);
    const { blocked: ofRows, deleted } = run.counts ?? NO_COUNTS;
    const blocked = ofRows + deleted + run.missing_blocked + ofFailed;
    const countActive = () => this.directory.count('Active');
    const load = blocked > 0 && (await this.fuse.findCallerLoad(callerOf(run), this.database, countActive));
    if (!load) return undefined;
    const value = load.count + blocked;
    return {
      name: 'key_fuse',
      field: null,
      value,
      limit: load.limit,
      hit: value > load.limit,
      examples: [],
      hint: 'The API key would block more users within an hour than it is allowed to. Approve the run with another credential.',
    };
  }

  private async *readRows({ id }: Pick<ImportRun, 'id'>, test: (row: StagedRow) => boolean) {
    for await (const page of this.rows.readPages(id)) yield* page.filter(test);
  }

  /** Adds the names of the users to the examples, and truncates their values. */
  private async addNames(run: ImportRun, guards: readonly EvaluatedGuard[]): Promise<Guard[]> {
    const lines = guards.flatMap(({ examples }) => examples.map(({ line }) => line));
    const staged = await this.rows.findByLines(run.id, [...new Set(lines)]);
    const people = await this.people.find(run.id, staged);
    const names = new Map(
      staged.map((row) => [row.line, displayNameOf(row, people.get(row.user_uuid ?? ''))]),
    );
    return guards.map((guard) => ({
      ...guard,
      examples: guard.examples.map(({ line, external_id, old, new: now }) => ({
        line: line > 0 && hasFile(run) ? line : null,
        external_id: truncate(external_id, 255),
        name: truncate(names.get(line) ?? '', 255),
        ...findUserNames(
          { field: guard.field ?? '', old, new: now },
          (uuid) => people.get(uuid)?.username ?? '',
        ),
        old: shorten(old),
        new: shorten(now),
      })),
    }));
  }
}

function shorten(value: unknown): unknown {
  if (typeof value === 'string') return truncate(value, MAX_VALUE);
  const text = JSON.stringify(value ?? null);
  return text.length <= MAX_VALUE ? value : truncate(text, MAX_VALUE);
}
