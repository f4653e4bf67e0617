import { Changes } from '../../platform/common/field-changes.js';
import { getOrCreate } from '../../platform/common/maps.js';
import { toBatches } from '../../platform/common/time-slice.js';
import type { Sql } from '../../platform/database/engine/sql.js';
import {
  type SetConstraint,
  createConstraint,
  createDeletionConstraint,
} from '../../users/set-rules/set-constraint.js';
import { toExactKey } from '../../users/model/comparison-keys.js';
import { SetValidator } from '../../users/set-rules/set-validator.js';
import type { UserDirectory } from '../../users/search/user-directory.service.js';
import type { Checkpoint } from '../runs/run-transitions.service.js';
import {
  type Cause,
  type RowError,
  type StagedRow,
  MAX_CAUSES,
  createsBlocked,
  toFailedRow,
  isWritten,
  EMPTY_ROW,
} from '../runs/import-row.js';
import type { ImportRowsRepository } from '../runs/import-rows.repository.js';
import { type ImportRun, RunProgress } from '../runs/import-run.js';
import { NumberSet } from '../../users/set-rules/number-collections.js';
import { ExternalIds, formatLine, FailedRowNames } from './external-ids.js';
import { type PlannedRow, explainUnknownManager } from './row-rules.js';
import { UniqueUsernames, hasUniqueUsernames } from './unique-usernames.js';
import { PlanTally } from './plan-tally.js';
import { clearManager, toRevertConflicts } from './user-rows.js';

/** Number of rows that are looked up and staged together. */
export const ROWS_AT_ONCE = 500;
/** Number of rows in a batch. The applier writes one or more whole batches in a transaction. */
const BATCH_ROWS = 25;
/** Progress when all rows are stored, as a share of the planning. */
const MAX_SHARE = 0.99;

/** Stages the planned rows of a run. At the end of the file, applies the set rules to all rows. */
export class PlanBuilder {
  readonly externalIds = new ExternalIds();
  readonly failedNames = new FailedRowNames();
  readonly tally = new PlanTally();
  private readonly setRules = new SetValidator({ nameOf: formatLine, isImport: true });
  /** UUIDs of existing users whose managers must be read to detect cycles. */
  private readonly cycleCandidates = new Set<string>();
  /** Rows whose manager is adopted by another row, with the ExternalId of that other row. */
  readonly adoptedManagers: { line: number; externalId: string }[] = [];
  private causes: Cause[] = [];
  /** Set if a template with `unique` builds the usernames of new users. */
  private readonly usernames = hasUniqueUsernames(this.run.profile)
    ? new UniqueUsernames(this.directory, (name, line) => this.setRules.isAssigned(name, line))
    : undefined;
  /** Lines of the new users in `usernames`. */
  private readonly newLines: number[] = [];
  /** True if every row is stored, and replaces the row that an earlier plan has stored for its line. */
  private readonly replacesRows = this.run.bulk !== null && this.run.reverts === null;
  private readonly progress = new RunProgress(this.run);
  private changeCount = 0;
  private reorderedBatches = 0;

  constructor(
    private readonly run: ImportRun,
    private readonly checkpoint: Checkpoint,
    private readonly rows: ImportRowsRepository,
    private readonly directory: UserDirectory,
  ) {}

  /**
   * Adds planned rows to the plan.
   * @param managed lines of rows whose user the data set starts to manage. They are stored even if nothing else
   * changes.
   * @param share share of the planning that is done, 0 to 1.
   */
  async add(planned: readonly PlannedRow[], managed: ReadonlySet<number>, share: number): Promise<void> {
    for (const { row } of planned) this.tally.add(row);
    const rows = planned.map(({ row }) => row);
    const changed = new Set(rows.filter(({ outcome, line }) => outcome !== 'unchanged' || managed.has(line)));
    const staged = rows.filter((row) => this.replacesRows || changed.has(row) || row.errors.length > 0);
    await this.stageRows(staged, share, changed);
  }

  /** Adds planned rows of a run that may delete users. @param total number of rows of the whole run. */
  async addUserRows(planned: readonly PlannedRow[], total: number): Promise<void> {
    await this.addConstraints(planned, true);
    for (const { row, before } of planned)
      if (row.outcome !== 'unchanged' && before?.manager_uuid)
        this.setRules.managers.addReport(row.line, before.manager_uuid);
    await this.add(planned, new Set(), (this.tally.rows + planned.length) / Math.max(1, total));
  }

  /**
   * Adds the set constraints of changed rows. Reads the current owners of the identifiers in these rows.
   * @param hasManagers true if the rows may change managers.
   */
  async addConstraints(planned: readonly PlannedRow[], hasManagers: boolean): Promise<void> {
    const changing = planned.filter(({ row }) => row.outcome !== 'unchanged');
    for (const { row, after } of changing)
      if (!after && row.outcome !== 'deleted') this.setRules.markFailed(row.line);
    const constraints = changing.flatMap((row) => this.buildConstraint(row, hasManagers) ?? []);
    if (constraints.length === 0) return;
    const owners = await this.directory.findOwners(
      constraints.flatMap(({ taken }) => taken.map(({ identifier }) => identifier)),
    );
    for (const constraint of constraints) this.setRules.add(constraint, owners);
  }

  /**
   * Stores rows of the plan and assigns the changed rows to batches.
   * @param share share of the planning that is done, 0 to 1.
   * @param changed rows that are not stored only because of their warnings.
   */
  async stageRows(
    rows: readonly StagedRow[],
    share: number,
    changed: Iterable<StagedRow> = rows,
  ): Promise<void> {
    for (const row of changed)
      if (isWritten(row)) row.batch = 1 + Math.floor(this.changeCount++ / BATCH_ROWS);
    const reached = this.recordProgress(share);
    if (rows.length === 0) return this.checkpoint.reportProgress(reached);
    const store = this.replacesRows ? 'replace' : 'insert';
    await this.checkpoint.commit((tx) => this.rows[store](tx, this.checkpoint.runId, rows), reached);
  }

  /**
   * Applies the set rules to all rows, and decides the order of rows that depend on each other. Does nothing if all
   * rows are unchanged.
   */
  async finalize(): Promise<void> {
    if (this.tally.unchanged === this.tally.rows) return;
    const { setRules } = this;
    const late = new Map<number, RowError[]>();
    for (const [line, error] of this.externalIds.findConflicts()) {
      setRules.markFailed(line);
      late.set(line, [error]);
    }
    for await (const users of toBatches([...this.cycleCandidates]))
      for (const [user, manager] of await this.directory.findManagers(users))
        setRules.managers.addExistingManager(user, manager);
    for (const { line, externalId } of this.adoptedManagers)
      setRules.addManagerDependency(line, this.externalIds.findLine(externalId));
    const webmasters = setRules.hasWebmasterLosses ? await this.directory.count('webmasters') : 0;
    for (const [line, failures] of setRules.validate(webmasters)) {
      late.set(line, [...(late.get(line) ?? []), ...failures]);
    }
    const providers = new Map(setRules.providers);
    await this.failStagedRows(late, providers);
    this.causes = listCauses(providers);
    await this.nameNewUsers();
    await this.clearManagers();
    await this.reorderRows(findApplyOrder(() => setRules.listDependencies(webmasters)));
  }

  /** Returns the totals of the plan. Call it after all rows are staged. */
  async summarize() {
    const staged = await this.rows.countByOutcome(this.checkpoint.runId);
    return {
      ...this.progress.recordPlanned(1, this.tally.rows, this.changeCount),
      rows_total: this.tally.rows,
      causes: this.causes,
      counts: { ...staged, unchanged: this.tally.unchanged },
      created_blocked: this.tally.createdBlocked,
      plan_hash: this.tally.fingerprint(),
      batches: this.batches,
    };
  }

  private get batches(): number {
    return Math.ceil(this.changeCount / BATCH_ROWS) + this.reorderedBatches;
  }

  private buildConstraint({ row, before, after }: PlannedRow, managers: boolean): SetConstraint | undefined {
    if (row.outcome === 'deleted') return before && createDeletionConstraint(row.line, before);
    const constraint = after && createConstraint(row.line, before, after, { managers });
    if (constraint && row.outcome === 'restored') constraint.restores = true;
    if (this.usernames && constraint?.creates) {
      // The usernames are chosen later, when the failed rows are known. Chosen usernames never conflict.
      this.newLines.push(row.line);
      constraint.taken = constraint.taken.filter(({ field }) => field !== 'username');
    }
    if (constraint?.manager?.after) this.cycleCandidates.add(constraint.manager.after);
    if (constraint?.manager?.before) this.cycleCandidates.add(constraint.manager.before);
    return constraint;
  }

  /** Chooses the usernames of the new users whose rows succeed, and stores the usernames that get a number. */
  private async nameNewUsers(): Promise<void> {
    for await (const lines of toBatches(this.newLines)) {
      const staged = await this.rows.findByLines(this.checkpoint.runId, lines);
      const created = staged.flatMap((row) => {
        const username = row.changes.values['username'];
        const { line, external_id: externalId } = row;
        return row.outcome === 'created' && typeof username === 'string'
          ? [{ row, line, externalId, username }]
          : [];
      });
      const names = await this.usernames?.choose(created);
      const renamed = created.flatMap(({ row, line, username: old }) => {
        const username = names?.get(line) ?? old;
        const changes = row.changes.list.map((change) =>
          change.field === 'username' ? { ...change, new: username } : change,
        );
        return username === old ? [] : { ...row, changes: Changes.fromList(changes) };
      });
      await this.replaceRows(renamed);
    }
  }

  /** Removes the manager in each applied row whose user has no manager after the run because of other rows. */
  private async clearManagers(): Promise<void> {
    const managers = new Map(this.setRules.listClearedManagers());
    for await (const lines of toBatches([...managers.keys()])) {
      const staged = await this.rows.findByLines(this.checkpoint.runId, lines);
      const applied = staged.filter(({ batch }) => batch > 0);
      await this.replaceRows(applied.map((row) => clearManager(row, managers.get(row.line) ?? null)));
    }
  }

  /** @param providers receives, for each dependent row, the failed row of its manager. */
  private async failStagedRows(
    lateErrors: ReadonlyMap<number, RowError[]>,
    providers: Map<number, number>,
  ): Promise<void> {
    const lines = [...lateErrors.keys()].sort((a, b) => a - b);
    for await (const part of toBatches(lines)) {
      const staged = await this.rows.findByLines(this.checkpoint.runId, part);
      const known = new Map(staged.map((row) => [row.line, row]));
      const managers = staged.flatMap(({ manager }) => manager ?? []);
      const deleted = await this.directory.findDeletedElsewhere(managers);
      const failed = part.map((line): StagedRow => {
        const row = known.get(line);
        // Until now, this row was counted as unchanged.
        if (!row || row.outcome === 'unchanged') this.tally.unchanged--;
        if (row && createsBlocked(row)) this.tally.createdBlocked--;
        // Record only changed names. Unchanged names belong to the user of this row, who does not count as missing
        // anyway.
        const { username, email } = row?.changes.values ?? {};
        for (const name of [username, email]) this.failedNames.addLogin(name);
        const planned = row ?? { ...EMPTY_ROW, line, outcome: 'error' };
        const failures = [...(lateErrors.get(line) ?? []), ...planned.errors];
        const errors = this.run.reverts !== null ? toRevertConflicts(planned, failures) : failures;
        const manager = this.externalIds.findLine(row?.manager ?? '');
        if (manager !== 0 && providers.get(line) === 0) providers.set(line, manager);
        return toFailedRow(
          planned,
          errors.map((error) =>
            explainUnknownManager(error, manager, deleted.get(toExactKey(row?.manager ?? ''))),
          ),
        );
      });
      await this.replaceRows(failed);
    }
  }

  private async replaceRows(rows: readonly StagedRow[]): Promise<void> {
    for (const row of rows) this.tally.print(row);
    const replace = (tx: Sql) => this.rows.replace(tx, this.checkpoint.runId, rows);
    if (rows.length > 0) await this.checkpoint.commit(replace, this.recordProgress(1));
  }

  private recordProgress(share: number) {
    // The set rules and the guards are evaluated later, so the planning is not complete yet.
    return this.progress.recordPlanned(Math.min(MAX_SHARE, share), this.tally.rows, this.changeCount);
  }

  /**
   * Moves rows that depend on each other to additional batches at the end. Rows of the same group stay in one batch.
   */
  private async reorderRows(groups: readonly number[][]): Promise<void> {
    const normal = this.batches;
    let lines: number[] = [];
    const flush = async (): Promise<void> => {
      if (lines.length === 0) return;
      const batch = normal + ++this.reorderedBatches;
      await this.checkpoint.commit((tx) => this.rows.assignBatch(tx, this.checkpoint.runId, lines, batch));
      lines = [];
    };
    for (const group of groups) {
      if (lines.length + group.length > BATCH_ROWS) await flush();
      lines = lines.concat(group);
    }
    await flush();
  }
}

/**
 * Counts the failed rows by the row that made them fail, directly or through other rows.
 * @param providers maps each row to the failed row on which it depends, or to 0 if its manager is in no row.
 */
function listCauses(providers: ReadonlyMap<number, number>): Cause[] {
  const roots = new Map<number, number>();
  const counts = new Map<number, number>();
  for (const start of providers.keys()) {
    const path = new Set<number>();
    let line = start;
    // Ends at a row that did not fail because of another row, at a row with a known root, or at the second visit of a
    // row if rows need each other.
    while (!roots.has(line) && !path.has(line)) {
      path.add(line);
      line = providers.get(line) || line;
    }
    const root = roots.get(line) ?? line;
    for (const each of path) roots.set(each, root);
    if (root !== start) counts.set(root, (counts.get(root) ?? 0) + 1);
  }
  const causes = Array.from(counts, ([line, failures]) => ({ line, failures }));
  return causes.sort((a, b) => b.failures - a.failures || a.line - b.line).slice(0, MAX_CAUSES);
}

type RowLinks = Iterable<readonly [line: number, needed: number]>;

/**
 * Returns the rows that must be applied after all other rows, because they depend on later rows. Rows that require each
 * other, as in a swap of usernames, form a group.
 * @param links pairs of lines. The second row must be applied before the first row or together with it.
 * @returns groups in the order in which they must be applied.
 */
export function findApplyOrder(links: () => RowLinks): number[][] {
  const late = findRowsToReorder(links);
  return findRowGroups(filterLinks(links(), late));
}

/**
 * Returns the rows that cannot be applied in the order of the file, because they require a later row, directly or
 * through other rows.
 */
function findRowsToReorder(links: () => RowLinks): NumberSet {
  const late = new NumberSet();
  for (let found = true; found;) {
    found = false;
    for (const [line, needed] of links()) {
      if (late.has(line) || (needed < line && !late.has(needed))) continue;
      late.add(line);
      found = true;
    }
  }
  return late;
}

function* filterLinks(links: RowLinks, lines: NumberSet): RowLinks {
  for (const link of links) if (lines.has(link[0])) yield link;
}

/**
 * Returns groups of rows that require each other (strongly connected components, Kosaraju's algorithm). Omits rows that
 * require no other row.
 */
export function findRowGroups(links: RowLinks): number[][] {
  const needed = new Map<number, number[]>();
  const dependent = new Map<number, number[]>();
  for (const [line, other] of links) {
    getOrCreate(needed, line, () => []).push(other);
    getOrCreate(dependent, other, () => []).push(line);
  }
  const reached = new Set<number>();
  const order = [...dependent.keys()].flatMap((line) => visitRows(line, dependent, reached)).reverse();
  const grouped = new Set<number>();
  const groups = order.map((line) => visitRows(line, needed, grouped));
  // A row that requires no other row keeps its batch. All groups are applied after these batches.
  return groups.filter((group) => group.some((line) => needed.has(line)));
}

/**
 * Visits a row and the rows to which links lead from it, depth first.
 * @returns the rows in the order in which their visits end.
 */
function visitRows(start: number, links: ReadonlyMap<number, readonly number[]>, visited: Set<number>) {
  const ended: number[] = [];
  const path = visited.has(start) ? [] : [{ line: start, next: 0 }];
  visited.add(start);
  for (let step = path.at(-1); step; step = path.at(-1)) {
    const line = links.get(step.line)?.[step.next++];
    if (line === undefined) {
      ended.push(step.line);
      path.pop();
    } else if (!visited.has(line)) {
      visited.add(line);
      path.push({ line, next: 0 });
    }
  }
  return ended;
}
