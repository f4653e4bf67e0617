import { type ChangeNumbers, IntList, NumberSet } from './number-collections.js';
import type { SetConstraint } from './set-constraint.js';
import { MANAGER_CYCLE, type Failure, UNKNOWN_MANAGER, toWebmasterFailure } from '../rules/failure.js';
import { IdentifierChanges, type NeededRelease, type Owner, type Assignment } from './identifier-changes.js';
import { ManagerGraph } from './manager-graph.js';

/**
 * Stores dependencies between changes. A change can need another change that releases its identifier or creates its
 * manager.
 */
class Dependencies {
  private readonly dependents = new IntList();
  private readonly providers = new IntList();
  private readonly tags = new IntList();

  /**
   * Makes `dependent` fail if `provider` fails.
   * @param tag kind of the dependency.
   */
  add(dependent: number, provider: number, tag: number): void {
    this.dependents.push(dependent);
    this.providers.push(provider);
    this.tags.push(tag);
  }

  /**
   * Marks changes as failed if they depend directly or indirectly on a failed change.
   * @returns the newly marked changes, each with the change that made it fail.
   */
  propagateFailures(failed: ChangeNumbers): Map<number, number> {
    const start = new Set<number>();
    for (let link = 0; link < this.providers.length; link++) {
      const provider = this.providers.at(link);
      if (failed.has(provider)) start.add(provider);
    }
    return this.collectDependents(start, failed);
  }

  *listBroken(failed: ChangeNumbers): Generator<[dependent: number, tag: number]> {
    for (let link = 0; link < this.dependents.length; link++) {
      if (failed.has(this.providers.at(link))) yield [this.dependents.at(link), this.tags.at(link)];
    }
  }

  *listActive(failed: ChangeNumbers): Generator<[dependent: number, provider: number]> {
    for (let link = 0; link < this.dependents.length; link++) {
      const dependent = this.dependents.at(link);
      if (!failed.has(dependent)) yield [dependent, this.providers.at(link)];
    }
  }

  /**
   * Adds all direct and indirect dependents of the changes in `start` to `known`. Returns them, each with the change on
   * which it depends.
   */
  collectDependents(start: Iterable<number>, known: ChangeNumbers): Map<number, number> {
    const added = new Map<number, number>();
    const queue = [...start];
    if (queue.length === 0 || this.providers.length === 0) return added;
    const links = Array.from({ length: this.providers.length }, (_, link) => link);
    const byProvider = Map.groupBy(links, (link) => this.providers.at(link));
    for (let change = queue.pop(); change !== undefined; change = queue.pop()) {
      for (const link of byProvider.get(change) ?? []) {
        const dependent = this.dependents.at(link);
        if (known.has(dependent)) continue;
        known.add(dependent);
        added.set(dependent, change);
        queue.push(dependent);
      }
    }
    return added;
  }
}

export interface SetOptions {
  nameOf: (change: number) => string;
  /**
   * True for imports, which link users by external id. A conflict with an unlinked user then has the code
   * `unlinked_conflict`.
   */
  isImport?: boolean;
}

/**
 * Maximum number of rounds that resolve conflicts in the order of their dependencies. Later rounds ignore this order,
 * because a crafted file could otherwise take quadratic time.
 */
const MAX_ORDERED_ROUNDS = 100;

type Conflict = (readonly [change: number, failure: Failure])[];

/**
 * Stands for a missing provider, such as a manager whom no change creates. It counts as failed, so that the dependent
 * change also fails.
 */
const NO_CHANGE = 0;
const MANAGER_TAG = 1;
const IDENTIFIER_TAG = 2;

/**
 * Validates the set rules (ADR 14) for the state after all changes. Each identifier must belong to one user, managers
 * must exist and form no cycle, and an active Webmaster must remain. A failed change can make other changes fail, so
 * validation repeats until no further change fails. Changes that are invalid by themselves fail first, then their
 * dependents, then conflicting changes.
 */
export class SetValidator {
  private readonly identifiers = new IdentifierChanges();
  /**
   * The managers after all changes. Before `validate`, add each existing user who becomes a manager, and all direct and
   * indirect managers of this user.
   */
  readonly managers = new ManagerGraph();
  /** Maps each change that removes an active Webmaster to the cause. */
  private readonly webmasterLosses = new Map<number, WebmasterLoss>();
  private readonly webmasterGains: number[] = [];
  private readonly deletions = new Map<number, string>();
  private readonly links = new Dependencies();
  private readonly failed = new NumberSet();
  private readonly failures = new Map<number, Failure[]>();
  /**
   * Maps each change that failed only because of another change to the other change, or to 0 if no change creates its
   * manager.
   */
  readonly providers = new Map<number, number>();

  constructor(private readonly options: SetOptions) {
    this.failed.add(NO_CHANGE);
  }

  /** Adds a change to validate. @param owners maps identifiers to the users who have them before the changes. */
  add(constraint: SetConstraint, owners: ReadonlyMap<string, Owner>): void {
    const { change, manager, webmaster, deletes } = constraint;
    if (deletes) this.deletions.set(change, constraint.user);
    this.identifiers.add(constraint, owners);
    if (manager) this.managers.add(constraint, manager);
    if (webmaster === 'gained') this.webmasterGains.push(change);
    else if (webmaster) this.webmasterLosses.set(change, webmaster);
  }

  /** Marks a change as failed for a reason outside the set rules. */
  markFailed(change: number): void {
    this.failed.add(change);
  }

  /** Returns true if a successful change other than `change` assigns the identifier. Call it after `validate`. */
  isAssigned(identifier: string, change: number): boolean {
    return this.identifiers
      .listAssignments(identifier)
      .some((one) => one !== change && !this.failed.has(one));
  }

  /** Makes a change depend on `linker`, the change that assigns the external id to its manager. */
  addManagerDependency(change: number, linker: number): void {
    this.links.add(change, linker, MANAGER_TAG);
  }

  /** True if a change removes an active Webmaster. If false, `validate` ignores the number of Webmasters. */
  get hasWebmasterLosses(): boolean {
    return this.webmasterLosses.size > 0;
  }

  /**
   * Validates all changes that were added.
   * @param webmasters number of active Webmasters in the database.
   * @returns the failures of each change that must not be applied.
   */
  validate(webmasters: number): ReadonlyMap<number, Failure[]> {
    for (const [change, other] of this.identifiers.linkConflicts)
      this.addFailure(change, this.createDuplicateFailure('external_id', other));
    for (const [change, creator] of this.managers.listManagerCreators(false))
      this.links.add(change, creator, MANAGER_TAG);
    for (const need of this.identifiers.requiredReleases)
      this.links.add(need.change, this.identifiers.getReleasingChange(need), IDENTIFIER_TAG);
    let rounds = 0;
    for (let more = true; more;) {
      this.managers.restoreManagers(this.failed);
      more = this.failInvalidChanges(webmasters);
      if (more) continue;
      const added = this.links.propagateFailures(this.failed);
      for (const [change, provider] of added) this.providers.set(change, provider);
      more =
        added.size > 0 ||
        this.failUsesOfDeletedManager() ||
        this.failConflictingChanges(webmasters, rounds++ < MAX_ORDERED_ROUNDS);
    }
    for (const [change, tag] of this.links.listBroken(this.failed)) {
      if (tag === MANAGER_TAG && this.providers.has(change)) this.addFailure(change, UNKNOWN_MANAGER);
    }
    for (const need of this.identifiers.requiredReleases) {
      if (this.providers.has(need.change) && this.identifiers.isIdentifierKept(need, this.failed))
        this.addFailure(need.change, this.createTakenFailure(need));
    }
    return this.failures;
  }

  /**
   * Lists pairs of changes. The second change must be in the same batch as the first change or in an earlier batch.
   * Call it after `validate`.
   */
  *listDependencies(webmasters: number): Generator<readonly [change: number, needed: number]> {
    yield* this.links.listActive(this.failed);
    yield* this.managers.listOrderPairs();
    yield* this.listDeletionPairs();
    const losses = [...this.webmasterLosses.keys()].filter((change) => !this.failed.has(change));
    const gain = this.webmasterGains.find((change) => !this.failed.has(change));
    if (gain === undefined || losses.length < webmasters) return;
    for (const change of losses) yield [change, gain];
  }

  /**
   * Lists the changes of users who have no manager after the change set. Each change is paired with the deleted manager,
   * or with null if it restores a user whose manager is missing. Call it after `validate`.
   */
  *listClearedManagers(): Generator<readonly [change: number, manager: string | null]> {
    for (const [deletion, report] of this.listDeletionPairs())
      if (!this.deletions.has(report)) yield [report, this.deletions.get(deletion) ?? null];
    for (const [change, creator] of this.managers.listManagerCreators(true))
      if (creator === 0) yield [change, null];
  }

  private *listDeletionPairs() {
    for (const pair of this.managers.listDeletionPairs(this.deletions))
      if (!pair.some((change) => this.failed.has(change))) yield pair;
  }

  /**
   * Marks changes as failed if they break a rule regardless of other changes.
   * @returns true if a change failed.
   */
  private failInvalidChanges(webmasters: number): boolean {
    const single = this.managers.findCycles().filter((cycle) => cycle.length === 1);
    for (const [change = 0] of single) this.addFailure(change, MANAGER_CYCLE);
    const losses = this.listWebmasterLosses(0);
    const isLast = losses.length > 0 && webmasters + this.countWebmasterGains() <= 1;
    if (isLast) for (const [change, field] of losses) this.addFailure(change, toWebmasterFailure(field));
    return single.length > 0 || isLast;
  }

  /** Marks changes as failed if they set a manager whom another change deletes. @returns true if a change failed. */
  private failUsesOfDeletedManager(): boolean {
    if (this.deletions.size === 0) return false;
    const deleted = [...this.deletions].flatMap(([change, user]) => (this.failed.has(change) ? [] : user));
    const orphans = [...this.managers.findAssignments(deleted)].filter((change) => !this.failed.has(change));
    for (const change of orphans) this.addFailure(change, UNKNOWN_MANAGER);
    return orphans.length > 0;
  }

  /**
   * Marks changes as failed if they break a rule together. A conflict that depends on another conflict waits for the
   * next round, because its changes may fail for another reason.
   * @returns true if there was a conflict.
   */
  private failConflictingChanges(webmasters: number, isOrdered: boolean): boolean {
    // The first changes may remove active Webmasters, as long as one remains.
    const losses = this.listWebmasterLosses(Math.max(0, webmasters + this.countWebmasterGains() - 1));
    const conflicts: Conflict[][] = [
      this.managers.findCycles().map((changes) => changes.map((change) => [change, MANAGER_CYCLE])),
      losses.length === 0 ? [] : [losses.map(([change, field]) => [change, toWebmasterFailure(field)])],
      this.identifiers.findClashes(this.failed).map((assignments) => this.toConflict(assignments)),
    ];
    const all = conflicts.flat();
    const later = new Set<number>();
    const conflicting = all.flatMap((conflict) => conflict.map(([change]) => change));
    if (isOrdered && all.length > 1) this.links.collectDependents(conflicting, later);
    const isFirst = (conflict: Conflict): boolean => !conflict.some(([change]) => later.has(change));
    const first = conflicts.map((kind) => kind.filter(isFirst)).find((kind) => kind.length > 0);
    const failing = first ?? conflicts.find((kind) => kind.length > 0) ?? [];
    for (const [change, failure] of failing.flat()) this.addFailure(change, failure);
    return all.length > 0;
  }

  private listWebmasterLosses(skipCount: number): [change: number, field: WebmasterLoss][] {
    const losses = [...this.webmasterLosses].filter(([change]) => !this.failed.has(change));
    return losses.sort(([a], [b]) => a - b).slice(skipCount);
  }

  private countWebmasterGains(): number {
    return this.webmasterGains.filter((change) => !this.failed.has(change)).length;
  }

  private toConflict(assignments: readonly Assignment[]): Conflict {
    return assignments.map(({ change, field }) => {
      const other = assignments.find((assignment) => assignment.change !== change)?.change ?? change;
      return [change, this.createDuplicateFailure(field, other)];
    });
  }

  private createDuplicateFailure(field: string, rival: number): Failure {
    const message = `is also set by another change: ${this.options.nameOf(rival)}`;
    return { field, code: 'duplicate', message };
  }

  private createTakenFailure({ field, owner: { uuid, external_id }, creates }: NeededRelease): Failure {
    const linker = this.identifiers.getLinkingChange(uuid);
    const isLinked = external_id !== '' || (linker !== 0 && !this.failed.has(linker));
    if (this.options.isImport !== true || !creates || isLinked) {
      return { field, code: `${field}_taken`, message: `belongs to user ${uuid}`, uuid };
    }
    const message = `belongs to user ${uuid}, who has no external id. If this is the same person, link the row to that user (options adopt_rows, adopt)`;
    return { field, code: 'unlinked_conflict', message, uuid };
  }

  private addFailure(change: number, failure: Failure): void {
    this.failed.add(change);
    const failures = this.failures.get(change);
    if (!failures) this.failures.set(change, [failure]);
    else if (!failures.some(({ field, code }) => field === failure.field && code === failure.code)) {
      failures.push(failure);
    }
  }
}

type WebmasterLoss = Exclude<SetConstraint['webmaster'], 'gained' | undefined>;
