import {
  pick,
  mapCells,
  setColumn,
  copy,
  fillDown,
  pasteLow,
  rotate,
  shiftUp,
  sortColumn,
  swap,
  patchIf,
} from './changes.js';
import { stops } from './disaster.js';
import { type Field, type Person, toCsv } from './people.js';

/** Valid cells in the rows of other people: columns that were shifted, sorted, swapped or pasted. */

const WITHOUT_NAMES: readonly Field[] = ['external_id', 'phone', 'mobile', 'about_me'];
const MIXED_UP = ['errors', 'changed_field username', 'changed_field email', 'moved_values'];
const blockEverySecond = patchIf(
  (i) => i % 2 === 1,
  () => ({ status: 'Blocked' }),
);

/** Sorts only the rows that a filter shows. */
const sortFiltered = (field: Field) =>
  setColumn(field, (all) => {
    const shown = all.filter((_, i) => i % 2 === 0).map((person) => person[field]);
    const sorted = shown.toSorted().reverse();
    return all.map((person, i) => (i % 2 === 0 ? sorted[i / 2]! : person[field]));
  });
/** Takes each value from the first person with the same `key` cell, like a join over a column with duplicates. */
const joinBy = (key: Field, field: Field) => (all: readonly Person[]) =>
  all.map((person) => ({ ...person, [field]: all.find((other) => other[key] === person[key])![field] }));

export const DISASTERS_OF_ORDER = [
  stops(
    'usernames sorted without other columns',
    ['changed_field username', 'moved_values'],
    sortColumn('username'),
  ),
  stops('phones sorted without other columns', ['changed_field phone', 'moved_values'], sortColumn('phone')),
  stops(
    'managers sorted without other columns',
    ['changed_field manager_uuid', 'errors'],
    sortColumn('manager', true),
    { sizes: [19, 50, 400] },
  ),
  stops('external ids sorted without other columns', MIXED_UP, sortColumn('external_id', true)),
  stops(
    'external ids sorted without other columns, in a file without names',
    ['changed_field phone', 'changed_field mobile', 'moved_values'],
    (all) => toCsv(sortColumn('external_id', true)(all), { fields: WITHOUT_NAMES }),
  ),
  stops('e-mails sorted in a filtered sheet', 'changed_field email', sortFiltered('email')),

  stops('usernames shifted one row up', ['changed_field username', 'moved_values'], shiftUp('username')),
  stops('e-mails shifted one row down', ['changed_field email', 'moved_values'], shiftUp('email', -1)),
  stops('logins shifted one row up', ['changed_field authname', 'moved_values'], shiftUp('authname')),
  stops('roles shifted one row up', 'changed_field roles', shiftUp('roles')),
  stops(
    'managers shifted three rows down',
    ['changed_field manager_uuid', 'emptied_field manager_uuid', 'errors'],
    shiftUp('manager', -3),
  ),
  stops('statuses shifted one row up', ['deactivations', 'reactivations'], shiftUp('status'), {
    base: blockEverySecond,
  }),
  stops('external ids shifted one row up', MIXED_UP, shiftUp('external_id')),
  stops(
    'one external id deleted and the cells below moved up',
    MIXED_UP,
    setColumn('external_id', (all) =>
      all.map((_, i) => (i < all.length / 2 ? all[i]! : (all[i + 1] ?? { external_id: '' })).external_id),
    ),
    { sizes: [19, 50, 400] },
  ),

  stops('phones pasted one row too low', 'moved_values phone', pasteLow('phone', pick(5, 5, 6, 12))),
  stops('some e-mails rotated by one row', 'moved_values email', rotate('email', pick(4, 4, 5, 12))),
  stops(
    'rotated logins, one more than the limit',
    'moved_values authname',
    rotate('authname', pick(4, 4, 4, 9)),
  ),
  stops('e-mails pasted one row too low', ['moved_values', 'rows'], pasteLow('email', pick(4, 4, 4, 12))),

  stops(
    'surnames and forenames swapped',
    ['changed_field firstname', 'changed_field surname'],
    swap('firstname', 'surname'),
  ),
  stops('usernames and e-mails swapped', ['errors', 'changed_field username'], swap('username', 'email')),
  stops('mobiles copied to phones', ['changed_field phone', 'emptied_field phone'], copy('mobile', 'phone')),
  stops('external ids copied to usernames', 'changed_field username', copy('external_id', 'username')),

  stops(
    'the first surname filled down over half of the rows',
    'changed_field surname',
    fillDown('surname', (size) => Math.ceil(size / 2)),
  ),
  stops('the first e-mail filled down over all rows', ['errors', 'rows'], fillDown('email')),
  stops(
    'the first phone filled down with increasing numbers',
    'changed_field phone',
    mapCells('phone', (_, i) => `+44 113 496 ${2000 + i}`),
  ),
  stops(
    'phones looked up by surname in place of external id',
    ['changed_field phone', 'same_value'],
    joinBy('surname', 'phone'),
    { sizes: [50, 400] },
  ),
];
