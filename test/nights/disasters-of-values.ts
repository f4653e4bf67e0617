import { cellsOf, constant, each, where } from './changes.js';
import { stops } from './disaster.js';
import type { Field } from './people.js';

/** Cells that hold one value for all, or none. */

const filled = (field: Field, change: (cell: string, i: number) => string) =>
  cellsOf(field, (cell, i) => (cell === '' ? '' : change(cell, i)));
const blanksBecome = (field: Field, value: string) => cellsOf(field, (cell) => (cell === '' ? value : cell));

export const DISASTERS_OF_VALUES = [
  // One value for all.
  stops(
    'everybody becomes a section manager and publisher',
    'changed_field roles',
    constant('roles', 'Section manager;Publisher'),
  ),
  stops('everybody becomes a Webmaster', ['errors', 'changed_field roles'], constant('roles', 'Webmaster')),
  stops('roles hold job titles', 'errors', constant('roles', 'Senior accountant')),
  stops(
    'roles separated by a comma',
    ['errors', 'rows'],
    filled('roles', (cell) => cell.replace(';', ',')),
  ),
  stops(
    'one manager for all',
    ['changed_field manager_uuid', 'errors'],
    each((_, __, all) => ({ manager: all[1]!.external_id })),
  ),
  stops('one surname for all', ['changed_field surname', 'same_value'], constant('surname', 'Smith')),
  stops(
    'the number of the switchboard for all',
    ['changed_field phone', 'same_value'],
    constant('phone', '+44 113 496 0000'),
  ),
  stops(
    'one text about everybody',
    ['changed_field about_me', 'same_value'],
    constant('about_me', 'Lorem ipsum'),
  ),
  stops('one username for all', ['errors', 'rows'], constant('username', 'user')),
  stops('NULL in every blank middle name', 'same_value middle_name', blanksBecome('middle_name', 'NULL'), {
    sizes: [50, 400],
  }),
  stops('#N/A in every surname', ['errors', 'changed_field surname', 'rows'], constant('surname', '#N/A')),
  stops(
    '#NAME? in the phones of half of the rows',
    ['errors', 'changed_field phone', 'rows'],
    where(
      (i) => i % 2 === 0,
      () => ({ phone: '#NAME?' }),
    ),
  ),

  // Emptied.
  stops('no phones', 'emptied_field phone', constant('phone', '')),
  stops(
    'no names at all',
    ['emptied_field firstname', 'emptied_field surname'],
    each(() => ({ firstname: '', surname: '', middle_name: '', known_as: '' })),
  ),
  stops('no managers', 'emptied_field manager_uuid', constant('manager', '')),
  stops('no profiles elsewhere', 'emptied_field social_media.linkedin', constant('linkedin', ''), {
    base: each((_, i) => ({ linkedin: `https://l.example/in/p${i}` })),
  }),
  stops('no login names', 'emptied_field authname', constant('authname', '')),
  stops(
    'no mobiles and no nicknames',
    ['emptied_field mobile', 'emptied_field known_as'],
    each(() => ({ mobile: '', known_as: '' })),
  ),
  stops(
    'a left join that finds no phone for every third',
    'emptied_field phone',
    where(
      (i) => i % 3 === 0,
      () => ({ phone: '' }),
    ),
  ),
  stops(
    'an export during a reorganisation: half without manager and text',
    ['emptied_field manager_uuid', 'emptied_field about_me'],
    where(
      (i) => i % 2 === 1,
      () => ({ manager: '', about_me: '' }),
    ),
  ),
  stops(
    'every address is hidden no more',
    ['emptied_field hide_email', 'changed_field hide_email'],
    constant('hide_email', 'no'),
  ),
  stops(
    'yes and no of the hidden addresses swapped',
    ['emptied_field hide_email', 'changed_field hide_email'],
    filled('hide_email', (cell) => (cell === 'yes' ? 'no' : 'yes')),
  ),
];
