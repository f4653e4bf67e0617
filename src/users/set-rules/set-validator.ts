import { type ChangeNumbers, MAP_STORAGE, type NumberStorage } from './number-storage.js';
import type { SetConstraint } from './set-constraint.js';
import { MANAGER_CYCLE, type Failure, UNKNOWN_MANAGER, toWebmasterFailure } from '../rules/failure.js';
import { IdentifierChanges, type NeededRelease, type Owner, type Assignment } from './identifier-changes.js';
import { ManagerGraph } from './manager-graph.js';

/** Stores which changes depend on a change that releases their identifier or creates their manager. */
class Dependencies {
  private readonly dependents = this.storage.createIntegers();
  private readonly providers = this.storage.createIntegers();
  private readonly tags = this.storage.createIntegers();

  constructor(private readonly storage: NumberStorage) {}

  /**
   * Adds a dependency.
   * @param dependent the change that is valid only if `provider` succeeds.
   * @param tag kind of the dependency, chosen by the caller.
   */
  add(dependent: number, provider: number, tag: number): void {
    this.dependents.push(dependent);
    this.providers.push(provider);
    this.tags.push(tag);
  }

  /**
   * Marks changes as failed if they depend directly or indirectly on a failed change.
   * @returns the newly marked changes.
   */
  propagateFailures(failed: ChangeNumbers): number[] {
    const start = new Set<number>();
    for (let link = 0; link < this.providers.length; link++) {
      const provider = this.providers.at(link);
      if (failed.has(provider)) start.add(provider);
    }
    return this.collectDependents(start, failed);
  }

  /** Finds all direct and indirect dependents of the given changes. */
  findDependents(changes: Iterable<number>): Set<number> {
    return new Set(this.collectDependents(changes, new Set()));
  }

  /** Lists the dependencies on failed changes, each as the dependent change and the tag. */
  *listBroken(failed: ChangeNumbers): Generator<[dependent: number, tag: number]> {
    for (let link = 0; link < this.dependents.length; link++) {
      if (failed.has(this.providers.at(link))) yield [this.dependents.at(link), this.tags.at(link)];
    }
  }

  /** Lists the dependencies of successful changes. */
  *listActive(failed: ChangeNumbers): Generator<[dependent: number, provider: number]> {
    for (let link = 0; link < this.dependents.length; link++) {
      const dependent = this.dependents.at(link);
      if (!failed.has(dependent)) yield [dependent, this.providers.at(link)];
    }
  }

  /**
   * Adds all direct and indirect dependents of the changes in `start` to `known`.
   * @returns the added changes.
   */
  private collectDependents(start: Iterable<number>, known: ChangeNumbers): number[] {
    const added: number[] = [];
    const queue = [...start];
    if (queue.length === 0 || this.providers.length === 0) return added;
    const links = Array.from({ length: this.providers.length }, (_, link) => link);
    const byProvider = Map.groupBy(links, (link) => this.providers.at(link));
    for (let change = queue.pop(); change !== undefined; change = queue.pop()) {
      for (const link of byProvider.get(change) ?? []) {
        const dependent = this.dependents.at(link);
        if (known.has(dependent)) continue;
        known.add(dependent);
        added.push(dependent);
        queue.push(dependent);
      }
    }
    return added;
  }
}

export interface SetOptions {
  storage?: NumberStorage;
  /** Returns the name of a change for error messages. */
  nameOf: (change: number) => string;
  /**
   * True for imports, which link users by external id. A conflict with an unlinked user then has the code
   * `unlinked_conflict`.
   */
  isImport?: boolean;
}

/**
 * Number of rounds in which conflicts are resolved in the order of their dependencies. All further conflicts are
 * resolved at once, because a crafted file would otherwise take quadratic time.
 */
const MAX_ORDERED_ROUNDS = 100;

/** Changes that are valid separately but break a rule together, each with its failure. */
type Conflict = (readonly [change: number, failure: Failure])[];

/**
 * Placeholder for a missing change: the provider of a dependency that no change of the set satisfies. It counts as
 * failed from the start, so that the dependent change also fails.
 */
const NO_CHANGE = 0;
/** Tag of the dependency on a change that creates a manager. */
const MANAGER_TAG = 1;
/** Tag of the dependency on a change that releases an identifier. */
const IDENTIFIER_TAG = 2;

/**
 * Validates the set rules (ADR 14) for the state after all changes: each identifier belongs to one user, managers exist
 * and form no cycle, and an active Webmaster remains. A failed change leaves its user unchanged, which can make other
 * changes fail, so the rules are validated in rounds until no further change fails. In each round, changes that are
 * invalid by themselves fail first, followed by their dependents. Conflicts between valid changes come last: manager
 * cycles, the last Webmaster, and identifiers that several changes set.
 */
export class SetValidator {
  private readonly storage = this.options.storage ?? MAP_STORAGE;
  private readonly identifiers = new IdentifierChanges(this.storage);
  private readonly managers = new ManagerGraph(this.storage);
  /** Maps each change after which a user is no longer an active Webmaster to the cause. */
  private readonly webmasterLosses = new Map<number, WebmasterLoss>();
  private readonly webmasterGains: number[] = [];
  /** Maps each change that deletes a user to the uuid of this user. */
  private readonly deletions = new Map<number, string>();
  private readonly links = new Dependencies(this.storage);
  private readonly failed = this.storage.createNumbers();
  private readonly failures = new Map<number, Failure[]>();

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

  /**
   * Adds a user in the database with the user's manager. Call it for all direct and indirect managers of new managers.
   */
  addExistingManager(user: string, manager: string | null): void {
    this.managers.addExistingManager(user, manager);
  }

  /**
   * Makes a change that sets a manager depend on `linker`, the only change that assigns the manager's external id to a
   * user.
   */
  requireManager(change: number, linker: number): void {
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
    // Reports all reasons for which a change fails, always in the same order.
    const dependent = new Set<number>();
    for (const [change, other] of this.identifiers.linkConflicts)
      this.addFailure(change, this.createDuplicateFailure('external_id', other));
    for (const [change, creator] of this.managers.listAwaitedManagers())
      this.links.add(change, creator, MANAGER_TAG);
    for (const need of this.identifiers.requiredReleases)
      this.links.add(need.change, this.identifiers.getReleasingChange(need), IDENTIFIER_TAG);
    let rounds = 0;
    for (let more = true; more;) {
      this.managers.restoreManagers(this.failed);
      more = this.failInvalidChanges(webmasters);
      if (more) continue;
      const added = this.links.propagateFailures(this.failed);
      for (const change of added) dependent.add(change);
      more =
        added.length > 0 ||
        this.failReportsOfDeleted() ||
        this.failConflictingChanges(webmasters, rounds++ < MAX_ORDERED_ROUNDS);
    }
    for (const [change, tag] of this.links.listBroken(this.failed)) {
      if (tag === MANAGER_TAG && dependent.has(change)) this.addFailure(change, UNKNOWN_MANAGER);
    }
    for (const need of this.identifiers.requiredReleases) {
      if (dependent.has(need.change) && this.identifiers.isIdentifierKept(need, this.failed))
        this.addFailure(need.change, this.createTakenFailure(need));
    }
    return this.failures;
  }

  /**
   * Lists pairs of changes. Every batch is valid if the second change of each pair is in the same batch as the first or
   * in an earlier batch. Call this method after `validate`.
   */
  *listDependencies(webmasters: number): Generator<readonly [change: number, needed: number]> {
    yield* this.links.listActive(this.failed);
    yield* this.managers.listOrderPairs();
    const losses = [...this.webmasterLosses.keys()].filter((change) => !this.failed.has(change));
    const gain = this.webmasterGains.find((change) => !this.failed.has(change));
    if (gain === undefined || losses.length < webmasters) return;
    for (const change of losses) yield [change, gain];
  }

  /**
   * Marks changes as failed if they break a rule on their own, regardless of other changes.
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
  private failReportsOfDeleted(): boolean {
    if (this.deletions.size === 0) return false;
    const deleted = [...this.deletions].flatMap(([change, user]) => (this.failed.has(change) ? [] : user));
    const orphans = [...this.managers.findReports(deleted)].filter((change) => !this.failed.has(change));
    for (const change of orphans) this.addFailure(change, UNKNOWN_MANAGER);
    return orphans.length > 0;
  }

  /**
   * Marks changes as failed if they are valid separately but break a rule together. A conflict that depends on another
   * conflict waits for the next round, because its changes may fail for another reason. Identifiers that several
   * changes set come last, because only valid changes compete for them.
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
    const later =
      isOrdered && all.length > 1
        ? this.links.findDependents(all.flatMap((conflict) => conflict.map(([change]) => change)))
        : new Set<number>();
    const isFirst = (conflict: Conflict): boolean => !conflict.some(([change]) => later.has(change));
    const first = conflicts.map((kind) => kind.filter(isFirst)).find((kind) => kind.length > 0);
    const failing = first ?? conflicts.find((kind) => kind.length > 0) ?? [];
    for (const [change, failure] of failing.flat()) this.addFailure(change, failure);
    return all.length > 0;
  }

  /**
   * Lists the changes that remove an active Webmaster, in the order of their numbers.
   * @param skip number of changes to omit at the beginning.
   */
  private listWebmasterLosses(skip: number): [change: number, field: WebmasterLoss][] {
    const losses = [...this.webmasterLosses].filter(([change]) => !this.failed.has(change));
    return losses.sort(([a], [b]) => a - b).slice(skip);
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
    const message = `belongs to user ${uuid}, who has no external id. To link that user, import with adopt=email or adopt=username`;
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

/** The reason why a user is no longer an active Webmaster. */
type WebmasterLoss = Exclude<SetConstraint['webmaster'], 'gained' | undefined>;
