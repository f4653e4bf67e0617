import type { FieldChange } from '../../platform/common/field-changes.js';
import { type GuardExample, MAX_EXAMPLES } from '../runs/import-guard.js';
import type { StagedRow } from '../runs/import-row.js';

/** Example row of a guard, before the user's name is known. `line` is negative for a missing user. */
export interface Example extends Omit<GuardExample, 'name' | 'line'> {
  line: number;
}

/** Rows that a guard has found: their number, and the first rows as examples. */
export class FoundRows {
  count = 0;
  readonly examples: Example[] = [];

  add(row: Pick<StagedRow, 'line' | 'external_id'>, change: Omit<FieldChange, 'field'> = {}): void {
    this.count++;
    if (this.examples.length >= MAX_EXAMPLES) return;
    const example = {
      line: row.line,
      external_id: row.external_id,
      old: change.old ?? null,
      new: change.new ?? null,
    };
    // Copy the strings, because a substring would keep the string that it was cut from in memory.
    this.examples.push(structuredClone(example));
  }
}
