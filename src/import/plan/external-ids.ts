import { hash } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import { toExactKey, toLoginKey } from '../../users/model/comparison-keys.js';
import type { RowError } from '../runs/import-row.js';
import { IntList, TextNumbers, computeHash64 } from '../../users/set-rules/number-collections.js';

/** ExternalIds of a file with the lines of their rows. Each ExternalId needs about 24 bytes. */
export class ExternalIds {
  private readonly numbers = new TextNumbers();
  /** First line with each ExternalId, indexed by the number of the ExternalId. */
  private readonly firstLines = new IntList();
  private readonly contentHashes = new IntList();
  private readonly repeated = new Map<number, { lines: number[]; isDifferent: boolean }>();

  /** Records the ExternalId of a row. @returns true if this row is the first one with the ExternalId. */
  add(line: number, externalId: string, cells: readonly string[]): boolean {
    const number = this.numbers.assignNumber(toExactKey(externalId));
    const [content] = computeHash64(cells.join('\0'));
    const first = this.firstLines.at(number);
    if (first === 0) {
      this.firstLines.set(number, line);
      this.contentHashes.set(number, content);
      return true;
    }
    const group = this.repeated.get(first) ?? { lines: [first], isDifferent: false };
    this.repeated.set(first, group);
    group.lines.push(line);
    group.isDifferent ||= this.contentHashes.at(number) !== content;
    return false;
  }

  assignNumber(externalId: string): number {
    return this.numbers.assignNumber(toExactKey(externalId));
  }

  /** Returns the line of the first row with this ExternalId, or 0 if no row has it. */
  findLine(externalId: string): number {
    return this.firstLines.at(this.numbers.findNumber(toExactKey(externalId)));
  }

  /**
   * Yields an error for each row whose ExternalId also occurs in a row with different cells. Call it after the last
   * row.
   */
  *findConflicts(): Generator<[line: number, error: RowError]> {
    for (const { lines, isDifferent } of this.repeated.values()) {
      if (!isDifferent) continue;
      for (const line of lines) {
        const other = lines.find((candidate) => candidate !== line) ?? line;
        const message = `is also set by another change: ${formatLine(other)}`;
        yield [line, { field: 'external_id', code: 'duplicate', message }];
      }
    }
  }
}

export const formatLine = (line: number): string => `line ${line}`;

/**
 * Number of bits for the number of an ExternalId in a UUID. 21 bits suffice for a million users and a million managers.
 */
const NUMBER_BITS = 21;

/**
 * Returns a function that creates the UUID of a new user from the number of its ExternalId. The UUID of a manager is
 * therefore known before the row of the manager is read. A run that is planned again creates the same UUIDs. The UUIDs
 * have version 7 (RFC 9562, section 6.2) and contain the creation time of the run, a hash of the id of the run, and the
 * number of the ExternalId.
 */
export function createUuidGenerator(run: { id: string; created: number }): (number: number) => string {
  const random = hash('sha256', run.id, 'buffer').subarray(0, 16);
  const runBits = random.readUInt32BE(0) << NUMBER_BITS;
  return (number) => uuidv7({ msecs: run.created, random, seq: (runBits | number) >>> 0 });
}

/**
 * ExternalIds, usernames and email addresses in failed rows, in about 16 bytes each. A user with one of these values
 * does not count as missing. Usernames and email addresses are stored together, because a login accepts both.
 */
export class FailedRowNames {
  private readonly externalIds = new TextNumbers();
  private readonly logins = new TextNumbers();

  addExternalId(externalId: string): void {
    const key = toExactKey(externalId);
    if (key !== '') this.externalIds.assignNumber(key);
  }

  /** @param name username or email address. */
  addLogin(name: unknown): void {
    const key = typeof name === 'string' ? toLoginKey(name) : '';
    if (key !== '') this.logins.assignNumber(key);
  }

  /** Returns true if a failed row contains the ExternalId, the username or the email address of the user. */
  has(user: { external_id: string; username_key: string; email_key: string }): boolean {
    if (this.externalIds.findNumber(toExactKey(user.external_id)) !== 0) return true;
    return [user.username_key, user.email_key].some((key) => this.logins.findNumber(key) !== 0);
  }
}
