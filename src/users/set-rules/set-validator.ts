import { type ChangeNumbers, IN_MAPS, type NumberStorage } from './number-storage.js';
import type { SetConstraint } from './set-constraint.js';
import { CIRCLE, type Failure, UNKNOWN_MANAGER, lastWebmaster } from '../rules/failure.js';
import { IdentifierChanges, type Need, type Owner, type Taker } from './identifier-changes.js';
import { ManagerGraph } from './manager-graph.js';

/** Changes that are valid only if another change is: the other change releases their username or creates their manager. */
class Dependencies {
  private readonly dependents = this.storage.integers();
  private readonly providers = this.storage.integers();
  private readonly tags = this.storage.integers();

  constructor(private readonly storage: NumberStorage) {}

  /** @param tag what the dependent needs, as the caller numbers it. */
  add(dependent: number, provider: number, tag: number): void {
    this.dependents.push(dependent);
    this.providers.push(provider);
    this.tags.push(tag);
  }

  /** Fails every change that depends on a failed one, directly or not. @returns those changes. */
  spread(failed: ChangeNumbers): number[] {
    const start = new Set<number>();
    for (let link = 0; link < this.providers.length; link++) {
      const provider = this.providers.at(link);
      if (failed.has(provider)) start.add(provider);
    }
    return this.reach(start, failed);
  }

  /** Every change that depends on one of these, directly or not. */
  dependentsOf(changes: Iterable<number>): Set<number> {
    return new Set(this.reach(changes, new Set()));
  }

  /** The links to changes that have failed. */
  *broken(failed: ChangeNumbers): Generator<[dependent: number, tag: number]> {
    for (let link = 0; link < this.dependents.length; link++) {
      if (failed.has(this.providers.at(link))) yield [this.dependents.at(link), this.tags.at(link)];
    }
  }

  /** The links of changes that have not failed. */
  *holding(failed: ChangeNumbers): Generator<[dependent: number, provider: number]> {
    for (let link = 0; link < this.dependents.length; link++) {
      const dependent = this.dependents.at(link);
      if (!failed.has(dependent)) yield [dependent, this.providers.at(link)];
    }
  }

  /** Adds all that depends on `start` to `known`. @returns what was not known before. */
  private reach(start: Iterable<number>, known: ChangeNumbers): number[] {
    const found: number[] = [];
    const wave = [...start];
    if (wave.length === 0 || this.providers.length === 0) return found;
    const links = Array.from({ length: this.providers.length }, (_, link) => link);
    const byProvider = Map.groupBy(links, (link) => this.providers.at(link));
    for (let change = wave.pop(); change !== undefined; change = wave.pop()) {
      for (const link of byProvider.get(change) ?? []) {
        const dependent = this.dependents.at(link);
        if (known.has(dependent)) continue;
        known.add(dependent);
        found.push(dependent);
        wave.push(dependent);
      }
    }
    return found;
  }
}

export interface SetOptions {
  storage?: NumberStorage;
  /** How an error names another change of the set. */
  nameOf: (change: number) => string;
  /** New users are matched by external id: a user without one who has their name is an `unlinked_conflict`. */
  links?: boolean;
}

/** Conflicts in a longer chain than this are decided together: a file made for it would take the square of its rows. */
const ORDERED_ROUNDS = 100;

/** Changes that break a rule together, each with its failure. */
type Conflict = (readonly [change: number, failure: Failure])[];

/** Provider of a dependency that no change of the set provides. It counts as failed from the beginning. */
const NO_CHANGE = 0;
/** Tags of dependencies: on the change that creates a manager, and on the change that releases an identifier. */
const MANAGER = 1;
const NAME = 2;

/**
 * Validates the set rules (ADR 14): takes the constraints of changes and returns their failures. In the end each identifier
 * belongs to one user, each manager exists without a cycle, and an active Webmaster remains. A failed change keeps what its
 * user had, which may fail other changes, until nothing new fails.
 *
 * Failures of single changes and of what depends on them come first. Conflicts between changes that would otherwise succeed
 * come last: cycles of managers, the last Webmaster, identifiers that two changes take.
 */
export class SetValidator {
  private readonly storage = this.options.storage ?? IN_MAPS;
  private readonly names = new IdentifierChanges(this.storage);
  private readonly managers = new ManagerGraph(this.storage);
  private readonly leaving = new Map<number, Leaving>();
  /** Change → the user that it deletes. */
  private readonly deletions = new Map<number, string>();
  private readonly joining: number[] = [];
  private readonly links = new Dependencies(this.storage);
  private readonly failed = this.storage.numbers();
  private readonly failures = new Map<number, Failure[]>();

  constructor(private readonly options: SetOptions) {
    this.failed.add(NO_CHANGE);
  }

  /** @param owners the users who have the identifiers that the constraint takes, by identifier. */
  add(constraint: SetConstraint, owners: ReadonlyMap<string, Owner>): void {
    const { change, manager, webmaster, deletes } = constraint;
    if (deletes) this.deletions.set(change, constraint.user);
    this.names.add(constraint, owners);
    if (manager) this.managers.add(constraint, manager);
    if (webmaster === 'gained') this.joining.push(change);
    else if (webmaster) this.leaving.set(change, webmaster);
  }

  /** Excludes a change that fails for a reason of its own. */
  withdraw(change: number): void {
    this.failed.add(change);
  }

  /** Adds a user of the database with its manager. Needed for all managers, direct and indirect, that changes name. */
  addExistingManager(user: string, manager: string | null): void {
    this.managers.addExistingManager(user, manager);
  }

  /** Makes a change depend on the other change of the set that gives its manager the external id. */
  needManager(change: number, linker: number): void {
    this.links.add(change, linker, MANAGER);
  }

  /** True when the set removes active Webmasters. Only then their number matters. */
  get losesWebmasters(): boolean {
    return this.leaving.size > 0;
  }

  /**
   * @param webmasters how many active Webmasters the database has.
   * @returns the failures of each change that must not be applied.
   */
  validate(webmasters: number): ReadonlyMap<number, Failure[]> {
    // A change may fail for several reasons. All of them are reported, in one order.
    const dependent = new Set<number>();
    for (const [change, other] of this.names.rivals) this.fail(change, this.duplicate('external_id', other));
    for (const [change, creator] of this.managers.awaited()) this.links.add(change, creator, MANAGER);
    for (const need of this.names.needs) this.links.add(need.change, this.names.releaser(need), NAME);
    let rounds = 0;
    for (let more = true; more;) {
      this.managers.undo(this.failed);
      more = this.failCertain(webmasters);
      if (more) continue;
      const spread = this.links.spread(this.failed);
      for (const change of spread) dependent.add(change);
      more =
        spread.length > 0 || this.failOrphans() || this.failConflicts(webmasters, rounds++ < ORDERED_ROUNDS);
    }
    for (const [change, tag] of this.links.broken(this.failed)) {
      if (tag === MANAGER && dependent.has(change)) this.fail(change, UNKNOWN_MANAGER);
    }
    for (const need of this.names.needs) {
      if (dependent.has(need.change) && this.names.isKept(need, this.failed))
        this.fail(need.change, this.taken(need));
    }
    return this.failures;
  }

  /**
   * Yields pairs of changes after `validate`: the second change must be applied no later than the first, so that every part
   * of a plan is as valid as the whole.
   */
  *dependencies(webmasters: number): Generator<readonly [change: number, needed: number]> {
    yield* this.links.holding(this.failed);
    yield* this.managers.order();
    const leaving = [...this.leaving.keys()].filter((change) => !this.failed.has(change));
    const joining = this.joining.find((change) => !this.failed.has(change));
    if (joining === undefined || leaving.length < webmasters) return;
    for (const change of leaving) yield [change, joining];
  }

  /** Fails changes that break a rule whatever happens to the other changes. */
  private failCertain(webmasters: number): boolean {
    const alone = this.managers.circles().filter((circle) => circle.length === 1);
    for (const [change = 0] of alone) this.fail(change, CIRCLE);
    const leaving = this.leavingBeyond(0);
    const isLast = leaving.length > 0 && webmasters + this.countJoining() <= 1;
    if (isLast) for (const [change, field] of leaving) this.fail(change, lastWebmaster(field));
    return alone.length > 0 || isLast;
  }

  /** A manager whose deletion has not failed is nobody at the end. */
  private failOrphans(): boolean {
    if (this.deletions.size === 0) return false;
    const gone = [...this.deletions].flatMap(([change, user]) => (this.failed.has(change) ? [] : user));
    const orphans = [...this.managers.changesBelow(gone)].filter((change) => !this.failed.has(change));
    for (const change of orphans) this.fail(change, UNKNOWN_MANAGER);
    return orphans.length > 0;
  }

  /**
   * Changes that break a rule together. A conflict whose changes depend on those of another one is decided later: they may
   * fail without it. Names come last, since only changes that would otherwise succeed constraint one.
   */
  private failConflicts(webmasters: number, inOrder: boolean): boolean {
    // The first Webmasters may leave as long as one remains.
    const leaving = this.leavingBeyond(Math.max(0, webmasters + this.countJoining() - 1));
    const conflicts: Conflict[][] = [
      this.managers.circles().map((changes) => changes.map((change) => [change, CIRCLE])),
      leaving.length === 0 ? [] : [leaving.map(([change, field]) => [change, lastWebmaster(field)])],
      this.names.clashes(this.failed).map((takers) => this.toConflict(takers)),
    ];
    const all = conflicts.flat();
    const later =
      inOrder && all.length > 1
        ? this.links.dependentsOf(all.flatMap((conflict) => conflict.map(([change]) => change)))
        : new Set<number>();
    const isFirst = (conflict: Conflict): boolean => !conflict.some(([change]) => later.has(change));
    const first = conflicts.map((kind) => kind.filter(isFirst)).find((kind) => kind.length > 0);
    const failing = first ?? conflicts.find((kind) => kind.length > 0) ?? [];
    for (const [change, failure] of failing.flat()) this.fail(change, failure);
    return all.length > 0;
  }

  /** The Webmasters who leave, in the order of the changes, without the first ones. */
  private leavingBeyond(first: number): [change: number, field: Leaving][] {
    const leaving = [...this.leaving].filter(([change]) => !this.failed.has(change));
    return leaving.sort(([a], [b]) => a - b).slice(first);
  }

  private countJoining(): number {
    return this.joining.filter((change) => !this.failed.has(change)).length;
  }

  private toConflict(takers: readonly Taker[]): Conflict {
    return takers.map(({ change, field }) => {
      const other = takers.find((taker) => taker.change !== change)?.change ?? change;
      return [change, this.duplicate(field, other)];
    });
  }

  private duplicate(field: string, other: number): Failure {
    return {
      field,
      code: 'duplicate',
      message: `is set by another change too: ${this.options.nameOf(other)}`,
    };
  }

  private taken({ field, owner: { uuid, external_id }, creates }: Need): Failure {
    const linker = this.names.linker(uuid);
    const isLinked = external_id !== '' || (linker !== 0 && !this.failed.has(linker));
    if (this.options.links !== true || !creates || isLinked) {
      return { field, code: `${field}_taken`, message: `belongs to user ${uuid}`, uuid };
    }
    const message = `belongs to user ${uuid}, who has no external id; adopt=email or adopt=username takes that user over`;
    return { field, code: 'unlinked_conflict', message, uuid };
  }

  private fail(change: number, failure: Failure): void {
    this.failed.add(change);
    const failures = this.failures.get(change);
    if (!failures) this.failures.set(change, [failure]);
    else if (!failures.some(({ field, code }) => field === failure.field && code === failure.code)) {
      failures.push(failure);
    }
  }
}

/** The field by which an active Webmaster stops being one. */
type Leaving = Exclude<SetConstraint['webmaster'], 'gained' | undefined>;
