import { truncated } from '../../platform/common/text.js';
import { type GuardExample, MAX_EXAMPLES } from '../runs/import-run.js';

/** A row that a guard has found, by the line of the file; negative for a user that the file lacks. */
export interface Example {
  line: number;
  externalId: string;
  old: unknown;
  new: unknown;
}

/** A number of rows, and some of them. */
export interface Found {
  count: number;
  examples: readonly Example[];
}

/** More than are shown, since some of the rows may fail later. */
const KEPT = 2 * MAX_EXAMPLES;
const MAX_VALUE = 200;

/** The first rows that a guard has found. */
export class Examples {
  private readonly kept: Example[] = [];

  add(example: () => Example): void {
    if (this.kept.length < KEPT) this.kept.push(example());
  }

  remove(line: number): void {
    const at = this.kept.findIndex((example) => example.line === line);
    if (at >= 0) this.kept.splice(at, 1);
  }

  get list(): readonly Example[] {
    return this.kept;
  }
}

/** Examples as a run shows them: the first ones, with long values cut. */
export function shown(examples: readonly Example[]): GuardExample[] {
  return examples.slice(0, MAX_EXAMPLES).map(({ line, externalId, old, new: now }) => ({
    line: line > 0 ? line : null,
    external_id: truncated(externalId, 255),
    old: cut(old),
    new: cut(now),
  }));
}

function cut(value: unknown): unknown {
  if (typeof value === 'string') return truncated(value, MAX_VALUE);
  if (value === undefined) return null;
  const text = JSON.stringify(value);
  return text.length <= MAX_VALUE ? value : truncated(text, MAX_VALUE);
}
