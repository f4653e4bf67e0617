import type { Identifier } from '../model/comparison-keys.js';
import type { SetConstraint } from './set-constraint.js';
import type { ChangeNumbers, NumberStorage } from './number-storage.js';

/** The user who has an identifier in the database. */
export interface Owner {
  uuid: string;
  /** Empty for an unlinked user. */
  external_id: string;
}

/** A change that takes an identifier which another user has in the database. */
export interface Need {
  change: number;
  field: Identifier['field'];
  owner: Owner;
  creates: boolean;
  /** Number of the identifier. */
  name: number;
}

/** A change that takes an identifier, with the field that it sets. */
export interface Taker {
  change: number;
  field: Identifier['field'];
}

/** The identifiers that the changes of a set take and release. */
export class IdentifierChanges {
  readonly needs: Need[] = [];
  /** Pairs of changes that link one user to different external ids. */
  readonly rivals: [change: number, other: number][] = [];
  private readonly numbers = this.storage.texts();
  /** By the number of an identifier: its first taker, packed, and the change that releases it. */
  private readonly takers = this.storage.integers();
  private readonly releasers = this.storage.integers();
  /** Identifiers that several changes take. */
  private readonly contested = new Map<number, Taker[]>();

  constructor(private readonly storage: NumberStorage) {}

  /** @param owners the users who have the identifiers that the constraint takes, by identifier. */
  add({ change, user, creates, released, taken }: SetConstraint, owners: ReadonlyMap<string, Owner>): void {
    for (const { identifier } of released) this.releasers.set(this.numbers.number(identifier), change);
    for (const { identifier, field } of taken) {
      const name = this.numbers.number(identifier);
      this.take(name, { change, field });
      const owner = owners.get(identifier);
      if (owner && owner.uuid !== user) this.needs.push({ change, field, owner, creates, name });
      if (field === 'external_id' && !creates) this.link(user, change);
    }
  }

  /** Returns the change that links a user to an external id, 0 for none. */
  linker(user: string): number {
    return this.takers.at(this.numbers.find(linkOf(user)));
  }

  /** Returns the change that releases the identifier, 0 where its owner keeps it. */
  releaser({ name }: Need): number {
    return this.releasers.at(name);
  }

  /** True when the owner of an identifier still has it in the end. */
  isKept(need: Need, failed: ChangeNumbers): boolean {
    const releaser = this.releaser(need);
    return releaser === 0 || failed.has(releaser);
  }

  /** Returns the takers of each identifier that several changes take which have not failed. */
  clashes(failed: ChangeNumbers): Taker[][] {
    return [...this.contested.values()]
      .map((takers) => takers.filter(({ change }) => !failed.has(change)))
      .filter((takers) => takers.length > 1);
  }

  private link(user: string, change: number): void {
    const number = this.numbers.number(linkOf(user));
    const first = this.takers.at(number);
    if (first === 0) this.takers.set(number, change);
    else this.rivals.push([first, change], [change, first]);
  }

  private take(name: number, taker: Taker): void {
    const first = this.takers.at(name);
    if (first === 0) this.takers.set(name, packTaker(taker));
    if (first === 0 || changeOf(first) === taker.change) return;
    // Username and e-mail share one space of names; every other name has one field.
    const shared = taker.field === 'username' || taker.field === 'email';
    const field = shared ? (isByEmail(first) ? 'email' : 'username') : taker.field;
    const takers = this.contested.get(name) ?? [{ change: changeOf(first), field }];
    if (takers.at(-1)?.change !== taker.change) takers.push(taker);
    this.contested.set(name, takers);
  }
}

/** A taker in one integer: the change, and in the lowest bit 1 for the field `email`. */
const packTaker = ({ change, field }: Taker): number => change * 2 + Number(field === 'email');
const changeOf = (packed: number): number => packed >> 1;
const isByEmail = (packed: number): boolean => packed % 2 === 1;

/** Returns a text that no identifier equals. */
const linkOf = (user: string): string => `link:${user}`;
