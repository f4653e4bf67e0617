import { MATCHED_ROWS, countRows, defineGuard } from './guard.js';

export const exchangedValues = defineGuard({
  name: 'exchanged_values',
  counts: 'rows with a value that the same user had in another text column',
  population: MATCHED_ROWS,
  limits: { rows: 3, percent: 1 },
  explains: [
    'changed_form',
    'changed_logins_only',
    'changed_logins',
    'emptied_field',
    'changed_field',
    'garbled_text',
  ],
  hint: 'These rows would move values from one column to another. Two columns of the file have probably been exchanged, or a delimiter in a cell has moved the cells. Correct the header or the profile.',
  start: ({ users }) =>
    countRows(({ line }, changes) => (line > 0 && users.exchanged.has(line) ? changes[0] : undefined)),
});
