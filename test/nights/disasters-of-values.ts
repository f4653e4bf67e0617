import { mapCells, fillAll, patch } from './changes.js';
import { stops } from './disaster.js';
import type { Field } from './people.js';

/** Columns with one value for all people, and emptied columns. */

const edit = (field: Field, change: (cell: string, i: number) => string) =>
  mapCells(field, (cell, i) => (cell === '' ? '' : change(cell, i)));

export const DISASTERS_OF_VALUES = [
  // One value for all people.
  stops('Webmaster role for all people', ['errors', 'role_holders'], fillAll('roles', 'Webmaster')),
  stops(
    'roles separated by commas',
    ['errors', 'rows'],
    edit('roles', (cell) => cell.replace(';', ',')),
  ),
  stops('one phone for all people', 'changed_field phone', fillAll('phone', '+44 113 496 0000')),
  stops('one username for all people', ['errors', 'rows'], fillAll('username', 'user')),
  stops('#N/A in every surname', ['errors', 'changed_field surname', 'rows'], fillAll('surname', '#N/A')),

  // Emptied columns.
  stops('all phones emptied', 'emptied_field phone', fillAll('phone', '')),
  stops(
    'all names emptied',
    ['emptied_field firstname', 'emptied_field surname'],
    patch(() => ({ firstname: '', surname: '', middle_name: '', known_as: '' })),
  ),
  stops('all managers emptied', 'emptied_field manager_uuid', fillAll('manager', '')),
  stops('all LinkedIn addresses emptied', 'emptied_field social_media.linkedin', fillAll('linkedin', ''), {
    base: patch((_, i) => ({ linkedin: `https://l.example/in/p${i}` })),
  }),
  stops('all logins emptied', 'emptied_field authname', fillAll('authname', '')),

  // Switched flags.
  stops('HideEmail set to no for all people', 'changed_field hide_email.off', fillAll('hide_email', 'no')),
  stops('HideEmail set to yes for all people', 'changed_field hide_email.on', fillAll('hide_email', 'yes')),
];
