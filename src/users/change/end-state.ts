import { ClaimLinks } from './claim-links.js';
import { type ChangeNumbers, type ClaimStorage, IN_MAPS } from './claim-storage.js';
import type { Claim } from './claim.js';
import type { Failure } from './failure.js';
import { ManagerGraph } from './manager-graph.js';
import { NameClaims, type Need, type Owner } from './name-claims.js';

export interface EndStateOptions {
  storage?: ClaimStorage;
  /** How an error names another change of the set. */
  nameOf: (change: number) => string;
  /** New users are matched by external id: a user without one who has their name is an `unlinked_conflict`. */
  links?: boolean;
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
 * Failures that follow from others come first. Then those that changes cause each other, as only changes that would
 * otherwise succeed do: names taken twice, circles of managers, the last Webmaster.
 */
export class EndState {
  private readonly names: NameClaims;
  private readonly managers: ManagerGraph;
  private readonly leaving = new Map<number, 'status' | 'roles'>();
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
    const { change, manager, webmaster } = claim;
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
    do {
      this.links.spread(this.failed, (change) => dependent.add(change));
      this.managers.undo(this.failed);
    } while (this.failClashes() || this.failCircles() || this.failLastWebmaster(webmasters));
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

  private failClashes(): boolean {
    const clashes = this.names.clashes(this.failed, this.links);
    for (const takers of clashes) {
      for (const { change, field } of takers) {
        const other = takers.find((taker) => taker.change !== change)?.change ?? change;
        this.fail(change, this.duplicate(field, other));
      }
    }
    return clashes.length > 0;
  }

  private failCircles(): boolean {
    const circles = this.managers.circles();
    for (const change of circles) this.fail(change, CIRCLE);
    return circles.length > 0;
  }

  /** The later ones fail: the first may go as long as one remains. */
  private failLastWebmaster(webmasters: number): boolean {
    const leaving = [...this.leaving]
      .filter(([change]) => !this.failed.has(change))
      .sort(([a], [b]) => a - b);
    const joining = this.joining.filter((change) => !this.failed.has(change)).length;
    const tooMany = leaving.slice(Math.max(0, webmasters + joining - 1));
    for (const [change, field] of tooMany) this.fail(change, { ...LAST_WEBMASTER, field });
    return tooMany.length > 0;
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

const UNKNOWN_MANAGER: Failure = {
  field: 'manager_uuid',
  code: 'unknown_reference',
  message: 'must be an existing user',
};
const CIRCLE: Failure = { field: 'manager_uuid', code: 'cycle', message: 'may not be below the user' };
const LAST_WEBMASTER: Omit<Failure, 'field'> = {
  code: 'last_webmaster',
  message: 'may not change: this user is the last active Webmaster',
};
