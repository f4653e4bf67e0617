import { pick, copy, fillDown, pasteLow, rotate, shiftUp, sortColumn, swap, patchIf } from './changes.js';
import { stops } from './disaster.js';
import { type Field, toCsv } from './people.js';

/** Valid cells in the rows of other people: columns that were shifted, sorted, swapped or pasted. */

const WITHOUT_NAMES: readonly Field[] = ['external_id', 'phone', 'mobile', 'about_me'];
const MIXED_UP = ['errors', 'changed_field username', 'changed_field email', 'moved_values'];
const blockEverySecond = patchIf(
  (i) => i % 2 === 1,
  () => ({ status: 'Blocked' }),
);

export const DISASTERS_OF_ORDER = [
  stops('phones sorted without other columns', ['changed_field phone', 'moved_values'], sortColumn('phone')),
  stops('external ids sorted without other columns', MIXED_UP, sortColumn('external_id', true)),
  stops(
    'external ids sorted without other columns, in a file without names',
    ['changed_field phone', 'changed_field mobile', 'moved_values'],
    (all) => toCsv(sortColumn('external_id', true)(all), { fields: WITHOUT_NAMES }),
  ),

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

  stops('phones pasted one row too low', 'moved_values phone', pasteLow('phone', pick(5, 5, 6, 12))),
  stops('some e-mails rotated by one row', 'moved_values email', rotate('email', pick(4, 4, 5, 12))),
  stops(
    'rotated logins, one more than the limit',
    'moved_values authname',
    rotate('authname', pick(4, 4, 4, 9)),
  ),
  stops('e-mails pasted one row too low', ['moved_values', 'rows'], pasteLow('email', pick(4, 4, 4, 12))),

  stops('usernames and e-mails swapped', ['errors', 'changed_field username'], swap('username', 'email')),
  stops('mobiles copied to phones', ['changed_field phone', 'emptied_field phone'], copy('mobile', 'phone')),
  stops('external ids copied to usernames', 'changed_field username', copy('external_id', 'username')),

  stops('the first e-mail filled down over all rows', ['errors', 'rows'], fillDown('email')),
];
