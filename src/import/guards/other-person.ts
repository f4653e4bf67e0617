import { MATCHED_ROWS, countRows, defineGuard } from './guard.js';

export const otherPerson = defineGuard({
  name: 'other_person',
  counts: 'rows that become another person: both names (without names, all logins) are unlike the old values',
  population: MATCHED_ROWS,
  limits: { rows: 3, percent: 0.5 },
  isSummed: true,
  explains: [
    ...['slid_column', 'exchanged_values', 'changed_form', 'changed_logins_only', 'changed_logins'],
    ...['changed_managers', 'emptied_field', 'changed_field', 'role_holders', 'garbled_text'],
  ],
  hint: 'These rows would turn a known user into another person. The external ids may have been given to other people, or the ExternalId column may be shifted or sorted separately. Reject the file and correct the source.',
  start: ({ users }) =>
    countRows(({ line }, changes) =>
      line > 0 && users.otherPersons.has(line)
        ? (changes.find(({ field }) => field === 'surname') ?? changes[0])
        : undefined,
    ),
});
