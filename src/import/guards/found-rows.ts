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

  add(
    { line, external_id }: Pick<StagedRow, 'line' | 'external_id'>,
    { old = null, new: now = null }: Omit<FieldChange, 'field'> = {},
  ): void {
    this.count++;
    // Copy the strings, because a substring would keep the string that it was cut from in memory.
    if (this.examples.length < MAX_EXAMPLES)
      this.examples.push(structuredClone({ line, external_id, old, new: now }));
  }
}
