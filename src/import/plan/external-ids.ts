import { hash } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import { exactKey, loginKey } from '../../users/model/comparison-keys.js';
import type { RowError } from '../runs/import-row.js';
import { IntList, TextNumbers, hash64 } from './packed-numbers.js';

/** Rows with one ExternalId. */
interface Repeated {
  lines: number[];
  differ: boolean;
}

/** The ExternalIds of a file with their lines, in some 24 bytes each: a row is about the user with its ExternalId. */
export class ExternalIds {
  private readonly numbers = new TextNumbers();
  /** By the number of the ExternalId: the first row with it, and a hash of its cells. */
  private readonly lines = new IntList();
  private readonly contents = new IntList();
  private readonly repeated = new Map<number, Repeated>();

  /** Takes note of a row's ExternalId. @returns whether the row is the first one with it. */
  add(line: number, externalId: string, cells: readonly string[]): boolean {
    const number = this.numbers.number(exactKey(externalId));
    const [content] = hash64(cells.join('\0'));
    const first = this.lines.at(number);
    if (first !== 0) {
      this.addRepeated(line, first, this.contents.at(number) !== content);
      return false;
    }
    this.lines.set(number, line);
    this.contents.set(number, content);
    return true;
  }

  private addRepeated(line: number, first: number, differs: boolean): void {
    const group = this.repeated.get(first) ?? { lines: [first], differ: false };
    this.repeated.set(first, group);
    group.lines.push(line);
    group.differ ||= differs;
  }

  /** The number of an ExternalId in the order of first mention, by a row of its own or as a manager. */
  numberOf(externalId: string): number {
    return this.numbers.number(exactKey(externalId));
  }

  /** The first row with this ExternalId; 0 for none. */
  lineOf(externalId: string): number {
    return this.lines.at(this.numbers.find(exactKey(externalId)));
  }

  /** Once all rows are read: those with one ExternalId that are not all the same fail together. */
  *conflicting(): Generator<[line: number, error: RowError]> {
    for (const { lines, differ } of this.repeated.values()) {
      if (!differ) continue;
      for (const line of lines) {
        const other = lines.find((candidate) => candidate !== line) ?? line;
        const message = `is set by another change too: ${nameOfLine(other)}`;
        yield [line, { field: 'external_id', code: 'duplicate', message }];
      }
    }
  }
}

/** How an error names another row. */
export const nameOfLine = (line: number): string => `line ${line}`;

/** Bits of a uuid that number the users of a run: a file names at most a million, and as many managers. */
const NUMBER_BITS = 21;

/**
 * The uuids of the users that a run creates: of version 7 with the run's time, then a number (RFC 9562, section 6.2) and
 * for the rest a hash of the run. They follow the order in which the file mentions the users: so a second plan, after a
 * crash or for an approval, equals the first, a row can name a manager that a later row creates, and new users stand
 * side by side in every index that ends in the uuid, instead of one on each page.
 * @returns the uuid for the number of an ExternalId.
 */
export function newUuids(run: { id: string; created: number }): (number: number) => string {
  const random = hash('sha256', run.id, 'buffer').subarray(0, 16);
  const own = random.readUInt32BE(0) << NUMBER_BITS;
  return (number) => uuidv7({ msecs: run.created, random, seq: (own | number) >>> 0 });
}

/**
 * The names in rows that fail, in some 16 bytes a name: such a row changes nothing, but the users whom its cells
 * name are in the file, whatever is wrong with the row. Username and e-mail address are one space, as in a login.
 */
export class FailedNames {
  private readonly externalIds = new TextNumbers();
  private readonly logins = new TextNumbers();

  addExternalId(externalId: string): void {
    const key = exactKey(externalId);
    if (key !== '') this.externalIds.number(key);
  }

  /** @param name a username or an e-mail address. */
  addLogin(name: unknown): void {
    const key = typeof name === 'string' ? loginKey(name) : '';
    if (key !== '') this.logins.number(key);
  }

  /** Whether a row that failed names the user. */
  has(user: { external_id: string; username_key: string; email_key: string }): boolean {
    if (this.externalIds.find(exactKey(user.external_id)) !== 0) return true;
    return [user.username_key, user.email_key].some((key) => this.logins.find(key) !== 0);
  }
}
