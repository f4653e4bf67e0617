import { TextCounts } from '../../users/set-rules/number-collections.js';
import { COLUMNS } from '../file/columns.js';
import type { StagedRow } from '../runs/import-row.js';
import { FoundRows } from './found-rows.js';
import { ALL_ROWS, defineGuard } from './guard.js';

export const errors = defineGuard({
  name: 'errors',
  counts: 'failed rows, except rows that failed in the same way in the last completed run',
  population: ALL_ROWS,
  limits: { rows: 4, percent: 10 },
  explains: [],
  hint: 'Many rows fail. Read their errors, and correct the source or the profile. If earlier files had no such errors, the format of the source has probably changed.',
  start: (plan) => ({
    async finish() {
      const found = new FoundRows();
      /** Faults of the last run that no row of this run has repeated. */
      const left = new TextCounts();
      const { last } = plan.past;
      if (last) for await (const row of plan.readFailedRows(last)) left.add(faultOf(row));
      for await (const row of plan.readFailedRows()) {
        const fault = faultOf(row);
        if (left.get(fault) > 0) left.add(fault, -1);
        else found.add(row, { old: null, new: row.errors.map(describeFault).join('; ') });
      }
      return [{ found }];
    },
  }),
});

const formatError = ({ field, code }: StagedRow['errors'][number]): string => `${field}: ${code}`;

function describeFault({ field, message }: StagedRow['errors'][number]): string {
  const column = COLUMNS.find((each) => each.field === field);
  return `${column?.name ?? field} ${message}`.trim();
}

/** Returns the same key for failed rows with the same ExternalId and the same errors. */
const faultOf = ({ external_id, errors: faults }: StagedRow): string =>
  `${external_id}\0${faults.map(formatError).join('\0')}`;
