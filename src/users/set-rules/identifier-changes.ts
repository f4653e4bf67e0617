import type { Identifier } from '../model/comparison-keys.js';
import type { SetConstraint } from './set-constraint.js';
import { type ChangeNumbers, IntList, TextNumbers } from './number-collections.js';

/** The user who has an identifier before any change of the set is applied. */
export interface Owner {
  uuid: string;
  /** Empty for a user without an external id. */
  external_id: string;
}

export interface Assignment {
  change: number;
  field: Identifier['field'];
}

/**
 * A change that assigns an identifier of another user. It is valid only if a different change releases this identifier.
 */
export interface NeededRelease extends Assignment {
  owner: Owner;
  creates: boolean;
  /** Number that stands for the text of the identifier (see `TextNumbers`). */
  number: number;
}

/** The identifiers that the changes of a set assign to users or release from users. */
export class IdentifierChanges {
  readonly requiredReleases: NeededRelease[] = [];
  /** Pairs of changes that set different external ids for the same user. */
  readonly linkConflicts: [change: number, other: number][] = [];
  private readonly numbers = new TextNumbers();
  /**
   * Maps each identifier to the first change that assigns it (see `packAssignment`). The keys of `toUserKey` map to the
   * change that sets the user's external id.
   */
  private readonly firstAssignments = new IntList();
  /** Maps each identifier to the change that releases it. */
  private readonly releases = new IntList();
  /** Conflicting assignments. The key is the number of an identifier that several changes assign. */
  private readonly contested = new Map<number, Assignment[]>();

  add({ change, user, creates, released, taken }: SetConstraint, owners: ReadonlyMap<string, Owner>): void {
    for (const { identifier } of released) this.releases.set(this.numbers.assignNumber(identifier), change);
    for (const { identifier, field } of taken) {
      const number = this.numbers.assignNumber(identifier);
      this.addAssignment(number, { change, field });
      const owner = owners.get(identifier);
      if (owner && owner.uuid !== user) this.requiredReleases.push({ change, field, owner, creates, number });
      if (field === 'external_id' && !creates) this.addLink(user, change);
    }
  }

  /** Lists the changes that assign an identifier. */
  listAssignments(identifier: string): number[] {
    const number = this.numbers.findNumber(identifier);
    const first = this.firstAssignments.at(number);
    return this.contested.get(number)?.map(({ change }) => change) ?? (first === 0 ? [] : [changeOf(first)]);
  }

  /** Returns the change that sets the external id of an existing user, or 0 if no change sets it. */
  getLinkingChange(user: string): number {
    return this.firstAssignments.at(this.numbers.findNumber(toUserKey(user)));
  }

  getReleasingChange({ number }: NeededRelease): number {
    return this.releases.at(number);
  }

  /** Returns true if no successful change releases the identifier. */
  isIdentifierKept(need: NeededRelease, failed: ChangeNumbers): boolean {
    const releasing = this.getReleasingChange(need);
    return releasing === 0 || failed.has(releasing);
  }

  /** Finds identifiers that several successful changes assign, and returns their assignments. */
  findClashes(failed: ChangeNumbers): Assignment[][] {
    return [...this.contested.values()]
      .map((assignments) => assignments.filter(({ change }) => !failed.has(change)))
      .filter((assignments) => assignments.length > 1);
  }

  private addLink(user: string, change: number): void {
    const number = this.numbers.assignNumber(toUserKey(user));
    const first = this.firstAssignments.at(number);
    if (first === 0) this.firstAssignments.set(number, change);
    else this.linkConflicts.push([first, change], [change, first]);
  }

  private addAssignment(number: number, added: Assignment): void {
    const first = this.firstAssignments.at(number);
    if (first === 0) this.firstAssignments.set(number, packAssignment(added));
    if (first === 0 || changeOf(first) === added.change) return;
    // Usernames and e-mail addresses share one namespace. Any other identifier belongs to only one field.
    const isLogin = added.field === 'username' || added.field === 'email';
    const field = isLogin ? (isForEmail(first) ? 'email' : 'username') : added.field;
    const assignments = this.contested.get(number) ?? [{ change: changeOf(first), field }];
    if (assignments.at(-1)?.change !== added.change) assignments.push(added);
    this.contested.set(number, assignments);
  }
}

const packAssignment = ({ change, field }: Assignment): number => change * 2 + Number(field === 'email');
const changeOf = (packed: number): number => packed >> 1;
const isForEmail = (packed: number): boolean => packed % 2 === 1;

/** Creates the text under which the change of a user's external id is stored. It differs from every identifier. */
const toUserKey = (user: string): string => `link:${user}`;
