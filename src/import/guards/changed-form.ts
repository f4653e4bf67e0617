import { listColumns } from './changed-columns.js';
import { MATCHED_ROWS, computeLimit, countByField, defineGuard } from './guard.js';
import { formOf } from './value-form.js';

/** Forms that fewer of the values in the column had are new. */
const RARE_SHARE = 0.01;
/** Columns with fewer values are not evaluated. */
const MIN_VALUES = 20;

export const changedForm = defineGuard({
  name: 'changed_form',
  counts:
    'cells in a form that under 1 % of the values had, for each column: date, number, phone, e-mail domain, URL or text. `email_rows` is for e-mail addresses',
  population: MATCHED_ROWS,
  /** `email_rows` replaces `rows` for e-mail addresses. */
  limits: { rows: 3, percent: 1, email_rows: 8 },
  explains: ['changed_logins_only', 'changed_logins', 'changed_field'],
  hint: 'The values of this column have another form than before, such as another e-mail domain or another kind of value. The source may have changed its format or exchanged columns. Compare some rows with the source.',
  start({ users, past }, { percent, email_rows: rows }) {
    const isNewForm = (field: string, value: unknown): boolean => {
      const column = users.columns.get(field);
      if (!column?.isText || column.filled < MIN_VALUES || typeof value !== 'string' || value === '')
        return false;
      return column.forms.getShare(formOf(value)) < RARE_SHARE;
    };
    const counter = countByField(
      ({ field, new: now }) => (isNewForm(field, now) ? [field] : []),
      (field) => (field === 'email' ? computeLimit({ rows, percent }, users.count) : undefined),
    );
    return {
      add(row, changes) {
        const isNew = row.outcome === 'created' && past.last;
        counter.add(row, isNew ? listColumns(row) : changes);
      },
      finish: () => counter.finish(),
    };
  },
});
