import { ClaimLinks } from './claim-links.js';
import { type ChangeNumbers, type ClaimStorage, IN_MAPS } from './claim-storage.js';
import type { Claim } from './claim.js';
import { CIRCLE, type Failure, UNKNOWN_MANAGER, lastWebmaster } from './failure.js';
import { ManagerGraph } from './manager-graph.js';
import { NameClaims, type Need, type Owner, type Taker } from './name-claims.js';

export interface EndStateOptions {
  storage?: ClaimStorage;
  /** How an error names another change of the set. */
  nameOf: (change: number) => string;
  /** New users are matched by external id: a user without one who has their name is an `unlinked_conflict`. */
  links?: boolean;
}

/** Conflicts in a longer chain than this are decided together: a file made for it would take the square of its rows. */
const ORDERED_ROUNDS = 100;

/** Changes that break a rule together. */
interface Conflict {
  changes: readonly number[];
  fail: () => void;
}

/** Nobody provides what a change needs: links to this number are broken from the beginning. */
const NOBODY = 0;
/** Tag of a link to the change that creates a manager; the others link to one that releases a name. */
const MANAGER = 1;
const NAME = 2;

/**
 * The judge of set rules (ADR 14): claims of changes go in, failures come out. Names belong to one user at the end, each
 * manager exists and is below none of its own reports, and an active Webmaster remains. A change that fails keeps what its
 * user had, which may fail others, until nothing new fails; it claims nothing.
 *
 * Failures of one change alone come first, and those that follow from others. Then come those that changes cause each
 * other, as only changes that would otherwise succeed do: circles of managers, the last Webmaster, names taken twice.
 */
export class EndState {
  private readonly names: NameClaims;
  private readonly managers: ManagerGraph;
  private readonly leaving = new Map<number, Leaving>();
  /** Change → the user that it deletes. */
  private readonly deletions = new Map<number, string>();
  private readonly joining: number[] = [];
  private readonly links: ClaimLinks;
  private readonly failed: ChangeNumbers;
  private readonly failures = new Map<number, Failure[]>();

  constructor(private readonly options: EndStateOptions) {
    const { storage = IN_MAPS } = options;
    this.names = new NameClaims(storage);
    this.managers = new ManagerGraph(storage);
    this.links = new ClaimLinks(storage);
    this.failed = storage.numbers();
    this.failed.add(NOBODY);
  }

  /** @param owners who has the identifiers that the claim takes, by identifier. */
  add(claim: Claim, owners: ReadonlyMap<string, Owner>): void {
    const { change, manager, webmaster, deletes } = claim;
    if (deletes) this.deletions.set(change, claim.user);
    this.names.add(claim, owners);
    if (manager) this.managers.add(claim, manager);
    if (webmaster === 'gained') this.joining.push(change);
    else if (webmaster) this.leaving.set(change, webmaster);
  }

  /** The change fails for a reason of its own: it claims nothing. */
  withdraw(change: number): void {
    this.failed.add(change);
  }

  /** A user of the database with its manager there: wanted of everybody above the managers that changes name. */
  know(user: string, manager: string | null): void {
    this.managers.know(user, manager);
  }

  /** A change names its manager by an external id that only this other change of the set gives. */
  needManager(change: number, linker: number): void {
    this.links.add(change, linker, MANAGER);
  }

  /** Whether the set takes away active Webmasters: only then their number matters. */
  get losesWebmasters(): boolean {
    return this.leaving.size > 0;
  }

  /**
   * @param webmasters how many active Webmasters the database has.
   * @returns the failures of each change that may not be made.
   */
  judge(webmasters: number): ReadonlyMap<number, Failure[]> {
    // A change may fail for several reasons: whichever is found first, all of them are reported, in one order.
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
   * After the judgement: pairs of changes of which the second must be made no later than the first, so that every set of a
   * plan is as good as the whole.
   */
  *dependencies(webmasters: number): Generator<readonly [change: number, needed: number]> {
    yield* this.links.holding(this.failed);
    yield* this.managers.order();
    const leaving = [...this.leaving.keys()].filter((change) => !this.failed.has(change));
    const joining = this.joining.find((change) => !this.failed.has(change));
    if (joining === undefined || leaving.length < webmasters) return;
    for (const change of leaving) yield [change, joining];
  }

  /** Changes that break a rule by themselves, whatever becomes of the others. */
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
    this.failAll(orphans, UNKNOWN_MANAGER);
    return orphans.length > 0;
  }

  /**
   * Changes that break a rule together. A conflict whose changes depend on those of another one is decided later: they may
   * fail without it. Names come last, since only changes that would otherwise succeed claim one.
   */
  private failConflicts(webmasters: number, inOrder: boolean): boolean {
    const conflicts = [
      this.managers.circles().map((changes): Conflict => ({
        changes,
        fail: () => {
          this.failAll(changes, CIRCLE);
        },
      })),
      this.tooManyLeaving(webmasters),
      this.names.clashes(this.failed).map((takers): Conflict => ({
        changes: takers.map(({ change }) => change),
        fail: () => {
          this.failClash(takers);
        },
      })),
    ];
    const all = conflicts.flat();
    const later =
      inOrder && all.length > 1
        ? this.links.dependentsOf(all.flatMap(({ changes }) => changes))
        : new Set<number>();
    const isFirst = ({ changes }: Conflict): boolean => !changes.some((change) => later.has(change));
    const first = conflicts.map((kind) => kind.filter(isFirst)).find((kind) => kind.length > 0);
    for (const { fail } of first ?? conflicts.find((kind) => kind.length > 0) ?? []) fail();
    return all.length > 0;
  }

  /** The later ones fail: the first may go as long as one remains. */
  private tooManyLeaving(webmasters: number): Conflict[] {
    const tooMany = this.leavingBeyond(Math.max(0, webmasters + this.countJoining() - 1));
    if (tooMany.length === 0) return [];
    const fail = (): void => {
      for (const [change, field] of tooMany) this.fail(change, lastWebmaster(field));
    };
    return [{ changes: tooMany.map(([change]) => change), fail }];
  }

  /** The Webmasters who leave, in the order of the changes, without the first ones. */
  private leavingBeyond(first: number): [change: number, field: Leaving][] {
    const leaving = [...this.leaving].filter(([change]) => !this.failed.has(change));
    return leaving.sort(([a], [b]) => a - b).slice(first);
  }

  private countJoining(): number {
    return this.joining.filter((change) => !this.failed.has(change)).length;
  }

  private failAll(changes: readonly number[], failure: Failure): void {
    for (const change of changes) this.fail(change, failure);
  }

  private failClash(takers: readonly Taker[]): void {
    for (const { change, field } of takers) {
      const other = takers.find((taker) => taker.change !== change)?.change ?? change;
      this.fail(change, this.duplicate(field, other));
    }
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

/** How an active Webmaster ceases to be one. */
type Leaving = Exclude<Claim['webmaster'], 'gained' | undefined>;
