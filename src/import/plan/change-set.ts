import { hash64 } from './compact-storage.js';

const FIRST_CAPACITY = 1024;
/** Changes that are remembered at a time, in 48 bytes each at most. */
const MAX_CHANGES = 2 ** 18;
/** No line of a file, and no missing user. */
const NO_LINE = 0;

/**
 * The changes of a plan by user, field and new value, so that those of an earlier run can be compared with them: exact up
 * to a million changes; beyond them those of a share of the users, which is halved whenever there is no more room.
 */
export class ChangeSet {
  /** Three integers a place: two of a hash, and the line; open addressing. */
  private places = new Int32Array(3 * FIRST_CAPACITY);
  private taken = 0;
  /** Users are remembered whose hash has so many bits that are 0. */
  private bits = 0;

  /** @param line of the row; negative for a user that the file lacks. */
  add(user: string, field: string, value: unknown, line: number): void {
    this.put(keyOf(user, field, value), line);
  }

  get isEmpty(): boolean {
    return this.taken === 0;
  }

  /** For a row that has failed after all. */
  remove(user: string, field: string, value: unknown): void {
    const key = keyOf(user, field, value);
    if (!this.isKept(key)) return;
    const place = this.place(key);
    if (this.isTaken(place)) this.places[place + 2] = NO_LINE;
  }

  /** The line of the row that gives the user this value; undefined where none does. */
  lineOf(user: string, field: string, value: unknown): number | undefined {
    const key = keyOf(user, field, value);
    if (!this.isKept(key)) return undefined;
    const line = this.places[this.place(key) + 2] ?? NO_LINE;
    return line === NO_LINE ? undefined : line;
  }

  /** Whether the changes of a user are remembered. */
  remembers(user: string): boolean {
    return this.isKept([hash64(user)[0], 0]);
  }

  private put(key: Key, line: number): void {
    if (!this.isKept(key)) return;
    const place = this.place(key);
    if (!this.isTaken(place)) this.taken++;
    this.places.set([key[0], key[1], line], place);
    if (this.taken > MAX_CHANGES) this.bits++;
    if (this.taken > MAX_CHANGES) this.rebuild(this.places.length);
    else if (this.taken * 6 > this.places.length) this.rebuild(2 * this.places.length);
  }

  /** The place of a key, or the free one that it would take. */
  private place([high, low]: Key): number {
    const capacity = this.places.length / 3;
    let place = 3 * ((low >>> 0) % capacity);
    while (this.isTaken(place) && !(this.places[place] === high && this.places[place + 1] === low))
      place = (place + 3) % this.places.length;
    return place;
  }

  private isTaken(place: number): boolean {
    return this.places[place] !== 0 || this.places[place + 1] !== 0;
  }

  private isKept([high]: Key): boolean {
    return (high >>> 0) % 2 ** this.bits === 0;
  }

  private rebuild(length: number): void {
    const old = this.places;
    this.places = new Int32Array(length);
    this.taken = 0;
    for (let at = 0; at < old.length; at += 3) {
      const key: Key = [old[at] ?? 0, old[at + 1] ?? 0];
      if ((key[0] !== 0 || key[1] !== 0) && this.isKept(key)) this.put(key, old[at + 2] ?? NO_LINE);
    }
  }
}

type Key = readonly [user: number, change: number];

/** `user` alone decides whether the key is remembered. */
function keyOf(user: string, field: string, value: unknown): Key {
  const [change] = hash64(`${user} ${field} ${JSON.stringify(value ?? null)}`);
  return [hash64(user)[0], change];
}
