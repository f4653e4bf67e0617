import type { Identifier } from '../model/keys.js';
import type { ChangeNumbers, ClaimStorage, Integers, TextNumbering } from './claim-storage.js';
import type { Claim } from './claim.js';

/** Who has an identifier in the database. */
export interface Owner {
  uuid: string;
  /** Empty for a user that no identity source knows. */
  external_id: string;
}

/** A change that takes what another user has in the database. */
export interface Need {
  change: number;
  field: Identifier['field'];
  owner: Owner;
  creates: boolean;
  /** Number of the identifier. */
  name: number;
}

/** A change that takes a name, under the field that it fills. */
export interface Taker {
  change: number;
  field: Identifier['field'];
}

/** Who takes and who releases which identifier: the names of a set, as its changes claim them. */
export class NameClaims {
  readonly needs: Need[] = [];
  /** Changes that link one user to different external ids, each with another of them. */
  readonly rivals: [change: number, other: number][] = [];
  private readonly numbers: TextNumbering;
  /** By the number of a name: the first change that takes it (times two, plus one for an e-mail), and the one that releases it. */
  private readonly takers: Integers;
  private readonly releasers: Integers;
  /** Names that several changes take. */
  private readonly contested = new Map<number, Taker[]>();

  constructor(storage: ClaimStorage) {
    this.numbers = storage.texts();
    this.takers = storage.integers();
    this.releasers = storage.integers();
  }

  /** @param owners who has the identifiers that the claim takes, by identifier. */
  add({ change, user, creates, released, taken }: Claim, owners: ReadonlyMap<string, Owner>): void {
    for (const { identifier } of released) this.releasers.set(this.numbers.number(identifier), change);
    for (const { identifier, field } of taken) {
      const name = this.numbers.number(identifier);
      this.take(name, { change, field });
      const owner = owners.get(identifier);
      if (owner && owner.uuid !== user) this.needs.push({ change, field, owner, creates, name });
      if (field === 'external_id' && !creates) this.link(user, change);
    }
  }

  /** The change that links a user to an external id; 0 for none. */
  linker(user: string): number {
    return this.takers.at(this.numbers.find(linkOf(user)));
  }

  /** The change that releases the name; 0 where its owner keeps it. */
  releaser({ name }: Need): number {
    return this.releasers.at(name);
  }

  /** Whether the owner of a name has it at the end, too. */
  isKept(need: Need, failed: ChangeNumbers): boolean {
    const releaser = this.releaser(need);
    return releaser === 0 || failed.has(releaser);
  }

  /** The takers of each name that several changes take which have not failed. */
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
    if (first === 0) this.takers.set(name, taker.change * 2 + Number(taker.field === 'email'));
    if (first === 0 || first >> 1 === taker.change) return;
    // Username and e-mail share one space of names; every other name has one field.
    const shared = taker.field === 'username' || taker.field === 'email';
    const field = shared ? (first % 2 === 1 ? 'email' : 'username') : taker.field;
    const takers = this.contested.get(name) ?? [{ change: first >> 1, field }];
    if (takers.at(-1)?.change !== taker.change) takers.push(taker);
    this.contested.set(name, takers);
  }
}

/** No identifier begins like this. */
const linkOf = (user: string): string => `link:${user}`;
