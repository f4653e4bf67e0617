import { computeHash64 } from '../../users/set-rules/number-collections.js';

/** Maximum number of stored changes. Each change needs about 48 bytes. */
const MAX_CHANGES = 2 ** 18;
/**
 * Number of bits for the change in a key, which also contains 32 bits for the user. JavaScript represents integers of
 * up to 53 bits exactly.
 */
const CHANGE_BITS = 21;

/**
 * Changes of a plan, for the comparison with earlier runs. Finds a change by its user, field and new value. Stores up
 * to 262,144 changes. For a larger plan, stores only the changes of a sample of users.
 */
export class PlannedChanges {
  /** Maps the key of a change to the line of its row. */
  private readonly lines = new Map<number, number>();
  /** Number of low bits that must be 0 in the hash of a sampled user. Each further bit halves the sample. */
  private zeroBits = 0;

  get isEmpty(): boolean {
    return this.lines.size === 0;
  }

  /** @param line line of the row, negative for a missing user. */
  add(user: string, field: string, value: unknown, line: number): void {
    if (this.isSampled(user)) this.lines.set(keyOf(user, field, value), line);
    while (this.lines.size > MAX_CHANGES) {
      this.zeroBits++;
      for (const key of this.lines.keys())
        if (!this.isSampledHash(Math.floor(key / 2 ** CHANGE_BITS))) this.lines.delete(key);
    }
  }

  /** Removes a change whose row has failed after it was added. */
  remove(user: string, field: string, value: unknown): void {
    this.lines.delete(keyOf(user, field, value));
  }

  /** Returns the line of the row that sets a field of a user to this value, or undefined if no row does. */
  findLine(user: string, field: string, value: unknown): number | undefined {
    return this.lines.get(keyOf(user, field, value));
  }

  isSampled(user: string): boolean {
    return this.isSampledHash(computeHash64(user)[0] >>> 0);
  }

  private isSampledHash(userHash: number): boolean {
    return userHash % 2 ** this.zeroBits === 0;
  }
}

function keyOf(user: string, field: string, value: unknown): number {
  const [change] = computeHash64(`${user} ${field} ${JSON.stringify(value ?? null)}`);
  return (computeHash64(user)[0] >>> 0) * 2 ** CHANGE_BITS + (change >>> (32 - CHANGE_BITS));
}
