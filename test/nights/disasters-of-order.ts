import { pick, copy, fillDown, pasteLow, rotate, shiftUp, sortColumn, swap, patchIf } from './changes.js';
import { stops } from './disaster.js';
import { type Field, toCsv } from './people.js';

/** Valid cells in the rows of other people: columns that were shifted, sorted, swapped or pasted. */

const WITHOUT_NAMES: readonly Field[] = ['external_id', 'phone', 'mobile', 'about_me'];
const MIXED_UP = ['errors', 'other_person', 'slid_column'];
const blockEverySecond = patchIf(
  (i) => i % 2 === 1,
  () => ({ status: 'Blocked' }),
);

export const DISASTERS_OF_ORDER = [
  stops('phones sorted without other columns', ['changed_field phone', 'slid_column'], sortColumn('phone')),
  stops('external ids sorted without other columns', MIXED_UP, sortColumn('external_id', true)),
  stops(
    'external ids sorted without other columns, in a file without names',
    ['changed_field phone', 'changed_field mobile'],
    (all) => toCsv(sortColumn('external_id', true)(all), { fields: WITHOUT_NAMES }),
  ),

  stops('usernames shifted one row up', 'slid_column username', shiftUp('username')),
  stops('e-mails shifted one row down', 'slid_column email', shiftUp('email', -1)),
  stops('logins shifted one row up', 'slid_column authname', shiftUp('authname')),
  stops('roles shifted one row up', 'role_holders', shiftUp('roles'), { sizes: [19, 50, 400] }),
  stops('managers shifted three rows down', 'changed_managers', shiftUp('manager', -3), {
    sizes: [19, 50, 400],
  }),
  stops('statuses shifted one row up', ['deactivations', 'reactivations'], shiftUp('status'), {
    base: blockEverySecond,
  }),
  stops('external ids shifted one row up', MIXED_UP, shiftUp('external_id')),

  stops('phones pasted one row too low', 'slid_column phone', pasteLow('phone', pick(5, 5, 6, 12))),
  stops('some e-mails rotated by one row', 'changed_logins_only email', rotate('email', pick(4, 4, 6, 12))),
  stops(
    'e-mails pasted one row too low',
    ['slid_column', 'errors', 'rows'],
    pasteLow('email', pick(4, 4, 6, 12)),
  ),

  stops('usernames and e-mails swapped', ['errors', 'exchanged_values'], swap('username', 'email')),
  stops('mobiles copied to phones', 'exchanged_values', copy('mobile', 'phone')),
  stops('external ids copied to usernames', 'changed_logins username', copy('external_id', 'username')),

  stops('the first e-mail filled down over all rows', ['errors', 'rows'], fillDown('email')),
];
