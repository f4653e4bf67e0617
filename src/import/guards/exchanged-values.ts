import { computeLimit, countRows, defineGuard } from './guard.js';

/** Rows that give a user a value that the same user had in another text column (`MatchedUsers.exchanged`). */
export const exchangedValues = defineGuard({
  name: 'exchanged_values',
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
  start: ({ users }, limits) =>
    countRows(
      ({ line }, changes) => (line > 0 && users.exchanged.has(line) ? changes[0] : undefined),
      () => computeLimit(limits, users.count),
    ),
});
