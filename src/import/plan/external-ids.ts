import { hash } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import { exactKey } from '../../users/model/keys.js';
import type { RowError } from '../runs/import-row.js';
import { IntList, TextNumbers, hash64 } from './compact-storage.js';

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
    if (first === 0) {
      this.lines.set(number, line);
      this.contents.set(number, content);
      return true;
    }
    const group = this.repeated.get(first) ?? { lines: [first], differ: false };
    this.repeated.set(first, group);
    group.lines.push(line);
    if (this.contents.at(number) !== content) group.differ = true;
    return false;
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

/**
 * The uuid of the new user that a run creates for an external id: of version 7, with the run's time, and for the rest a
 * hash of run and external id. So a second plan, after a crash or for an approval, equals the first, and a row can name a
 * manager that a later row creates.
 */
export function newUuid(run: { id: string; created: number }, externalIdKey: string): string {
  const random = hash('sha256', `${run.id}\0${externalIdKey}`, 'buffer').subarray(0, 16);
  return uuidv7({ msecs: run.created, random, seq: random.readUInt32BE(0) & 0x7fffffff });
}
