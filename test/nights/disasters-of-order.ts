import {
  both,
  bySize,
  cellsOf,
  column,
  copied,
  filledDown,
  pastedLow,
  rotated,
  shifted,
  sortedAlone,
  swapped,
  where,
} from './changes.js';
import { stops } from './disaster.js';
import { type Field, type Person, sheet } from './people.js';

/** Cells that are right, beside the wrong people: columns that slid, were sorted, swapped or pasted. */

const WITHOUT_NAMES: readonly Field[] = ['external_id', 'phone', 'mobile', 'about_me'];
const MIXED_UP = ['errors', 'changed_field username', 'changed_field email', 'moved_values'];
const blockedEverySecond = where(
  (i) => i % 2 === 1,
  () => ({ status: 'Blocked' }),
);

/** Only the rows that a filter shows are sorted. */
const sortedWithFilter = (field: Field) =>
  column(field, (all) => {
    const shown = all.filter((_, i) => i % 2 === 0).map((person) => person[field]);
    const sorted = shown.toSorted().reverse();
    return all.map((person, i) => (i % 2 === 0 ? sorted[i / 2]! : person[field]));
  });
const halvesSwapped = (field: Field) =>
  column(field, (all) => {
    const middle = Math.floor(all.length / 2);
    return [...all.slice(-middle), ...all.slice(0, -middle)].map((person) => person[field]);
  });
/** The values come from the first person with the same cell elsewhere: a join over a column that is no key. */
const joinedBy = (key: Field, field: Field) => (all: readonly Person[]) =>
  all.map((person) => ({ ...person, [field]: all.find((other) => other[key] === person[key])![field] }));

export const DISASTERS_OF_ORDER = [
  stops(
    'usernames sorted, the rest not',
    ['changed_field username', 'moved_values'],
    sortedAlone('username'),
  ),
  stops('phones sorted, the rest not', ['changed_field phone', 'moved_values'], sortedAlone('phone')),
  stops('surnames sorted, the rest not', 'changed_field surname', sortedAlone('surname')),
  stops('texts about people sorted, the rest not', 'changed_field about_me', sortedAlone('about_me')),
  stops(
    'managers sorted, the rest not',
    ['changed_field manager_uuid', 'errors'],
    sortedAlone('manager', true),
    {
      sizes: [19, 50, 400],
    },
  ),
  stops('keys sorted, the rest not', MIXED_UP, sortedAlone('external_id', true)),
  stops(
    'keys sorted, in a file without names',
    ['changed_field phone', 'changed_field mobile', 'moved_values'],
    (all) => sheet(sortedAlone('external_id', true)(all), { fields: WITHOUT_NAMES }),
  ),
  stops('e-mails sorted in a sheet with a filter on', 'changed_field email', sortedWithFilter('email')),

  stops('usernames one row too high', ['changed_field username', 'moved_values'], shifted('username')),
  stops('e-mails one row too low', ['changed_field email', 'moved_values'], shifted('email', -1)),
  stops('login names one row too high', ['changed_field authname', 'moved_values'], shifted('authname')),
  stops('mobiles one row too low', ['changed_field mobile', 'emptied_field mobile'], shifted('mobile', -1)),
  stops(
    'names and surnames one row too low',
    ['changed_field firstname', 'changed_field surname'],
    both(shifted('surname', -1), shifted('firstname', -1)),
  ),
  stops('middle names one row too high', 'emptied_field middle_name', shifted('middle_name')),
  stops('roles one row too high', 'changed_field roles', shifted('roles')),
  stops(
    'managers three rows too low',
    ['changed_field manager_uuid', 'emptied_field manager_uuid', 'errors'],
    shifted('manager', -3),
  ),
  stops('statuses one row too high', ['deactivations', 'reactivations'], shifted('status'), {
    base: blockedEverySecond,
  }),
  stops('keys one row too high', MIXED_UP, shifted('external_id')),
  stops(
    'a cell deleted in the column of keys, those below moved up',
    MIXED_UP,
    column('external_id', (all) =>
      all.map((_, i) => (i < all.length / 2 ? all[i]! : (all[i + 1] ?? { external_id: '' })).external_id),
    ),
    { sizes: [19, 50, 400] },
  ),
  stops(
    'a look-up of phones that finds the next person',
    ['changed_field phone', 'moved_values'],
    shifted('phone', 1),
  ),

  stops(
    'a block of phones pasted one row too low',
    'moved_values phone',
    pastedLow('phone', bySize(5, 5, 6, 12)),
  ),
  stops('a block of e-mails turned by one row', 'moved_values email', rotated('email', bySize(4, 4, 5, 12))),
  stops(
    'a block of usernames turned by one row',
    'moved_values username',
    rotated('username', bySize(4, 4, 5, 12)),
  ),
  stops(
    'one login name too many turned by one row',
    'moved_values authname',
    rotated('authname', bySize(4, 4, 4, 9)),
  ),
  stops(
    'a block of e-mails pasted one row too low',
    ['moved_values', 'rows'],
    pastedLow('email', bySize(4, 4, 4, 12)),
  ),
  stops(
    'the halves of a column of e-mails swapped',
    ['changed_field email', 'moved_values'],
    halvesSwapped('email'),
  ),

  stops(
    'surnames and forenames swapped',
    ['changed_field firstname', 'changed_field surname'],
    swapped('firstname', 'surname'),
  ),
  stops(
    'phones and mobiles swapped',
    ['changed_field phone', 'changed_field mobile'],
    swapped('phone', 'mobile'),
  ),
  stops('usernames and e-mails swapped', ['errors', 'changed_field username'], swapped('username', 'email')),
  stops(
    'middle names and forenames swapped',
    ['changed_field firstname', 'emptied_field firstname'],
    swapped('firstname', 'middle_name'),
  ),
  stops(
    'phones and texts about people swapped',
    ['changed_field phone', 'changed_field about_me'],
    swapped('phone', 'about_me'),
  ),
  stops(
    'mobiles copied over phones',
    ['changed_field phone', 'emptied_field phone'],
    copied('mobile', 'phone'),
  ),
  stops('surnames copied over forenames', 'changed_field firstname', copied('surname', 'firstname')),
  stops('keys copied over usernames', 'changed_field username', copied('external_id', 'username')),

  stops(
    'the first surname dragged down over half of the rows',
    'changed_field surname',
    filledDown('surname', (size) => Math.ceil(size / 2)),
  ),
  stops(
    'the first phone dragged down over a quarter of the rows',
    'changed_field phone',
    filledDown('phone', (size) => Math.max(4, Math.ceil(size / 4) + 1)),
  ),
  stops('the first e-mail dragged down', ['errors', 'rows'], filledDown('email')),
  stops(
    'the number in the first phone counted up while it was dragged down',
    'changed_field phone',
    cellsOf('phone', (_, i) => `+44 113 496 ${2000 + i}`),
  ),
  stops('phones joined by the surname', ['changed_field phone', 'same_value'], joinedBy('surname', 'phone'), {
    sizes: [50, 400],
  }),
];
