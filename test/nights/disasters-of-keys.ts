import { type Change, cellsOf, each } from './changes.js';
import { stops } from './disaster.js';
import { type Field, type Person, people, personOf, sheet } from './people.js';
import type { Before, Source } from './stage.js';

/** Files with other keys, or about other people. */

const KEEP = 'missing=keep';
const OTHER_KEYS = ['errors', 'changed_keys', 'deactivations', 'rows'];
const keys = (change: (key: string, i: number) => string): Change => cellsOf('external_id', change);
const keyFields =
  (fields: readonly Field[], change: Change): Source =>
  (all) =>
    sheet(change(all), { fields });
/** The people of another source; their keys may be those of this one. */
const strangers = (all: readonly Person[], dataset: string, sameKeys: boolean): Person[] =>
  all.map(({ external_id, manager }, i) => ({
    ...personOf(`x${dataset}`, i + 7),
    ...(sameKeys ? { external_id, manager } : { manager: '' }),
  }));
const sister: Before = {
  file: (_, dataset) => sisterOf(dataset, 10),
  options: (dataset) => `dataset=${dataset}b`,
};
const sisterOf = (dataset: string, count: number): Person[] => people(`${dataset}b`, count);

export const DISASTERS_OF_KEYS = [
  // Other keys.
  stops(
    'keys without their leading zeros',
    OTHER_KEYS,
    keys((key) => key.replace(/^0+/, '')),
  ),
  stops(
    'keys with a prefix',
    OTHER_KEYS,
    keys((key) => `EMP${key}`),
  ),
  stops(
    'keys in upper case',
    OTHER_KEYS,
    keys((key) => key.toUpperCase()),
  ),
  stops(
    'keys in scientific notation',
    ['errors', 'deactivations', 'rows spreadsheet_number'],
    keys(() => '1.00123E+11'),
  ),
  stops(
    'keys cut after six characters',
    ['errors', 'deactivations', 'rows duplicate'],
    keys((key) => key.slice(0, 6)),
  ),
  stops(
    'e-mails as keys',
    OTHER_KEYS,
    each(({ email }) => ({ external_id: email })),
  ),
  stops('row numbers as keys', OTHER_KEYS, (all, dataset) => keys((_, i) => `${dataset}${i + 1}`)(all)),
  stops(
    'keys of a new system, nobody missing',
    ['errors', 'changed_keys', 'rows'],
    keys((key) => `hr-${key}`),
    { options: KEEP },
  ),
  stops(
    'other keys in a file without names',
    ['errors', 'changed_keys', 'deactivations'],
    keyFields(
      ['external_id', 'phone', 'mobile'],
      keys((key) => key.replace(/^0+/, '')),
    ),
  ),
  stops(
    'other keys where nobody may be created',
    ['deactivations', 'changed_keys'],
    keys((key) => `EMP${key}`),
    { options: 'missing=block&mode=update_only' },
  ),
  stops(
    'other keys and other names, nobody blocked',
    'changed_keys',
    each(({ external_id, username, email, authname }) => ({
      external_id: `n${external_id}`,
      username: `n.${username}`,
      email: `n.${email}`,
      authname: `n.${authname}`,
      manager: '',
    })),
    { options: KEEP },
  ),
  stops('numbers of leavers given to others', ['changed_field username', 'errors', 'moved_values'], (all) =>
    all.map((person, i) => ({
      ...all[(i + 3) % all.length]!,
      external_id: person.external_id,
      manager: person.manager,
    })),
  ),

  // Files about others.
  stops(
    'the file of the test system: the same keys, made-up people',
    ['changed_field surname', 'changed_field email'],
    (all, dataset) => strangers(all, dataset, true),
  ),
  stops('the file of another company', ['deactivations', 'changed_keys'], (all, dataset) =>
    strangers(all, dataset, false),
  ),
  stops(
    'the file of another company, nobody blocked',
    'changed_keys',
    (all, dataset) => strangers(all, dataset, false),
    { options: KEEP },
  ),
  stops(
    'a join that gives everybody a second row with another phone',
    ['errors', 'rows duplicate'],
    (all) => [...all, ...cellsOf('phone', () => '+44 113 496 0001')(all)],
  ),
  stops('a mistyped name of the data set', 'foreign_dataset', (all) => all, {
    options: (dataset) => `dataset=${dataset}x&missing=block`,
  }),
  stops(
    'the file of a sister company',
    ['foreign_dataset', 'deactivations'],
    (_, dataset) => sisterOf(dataset, 10),
    { before: [sister] },
  ),
  stops(
    'the file of a sister company, nobody blocked',
    'foreign_dataset',
    (_, dataset) => sisterOf(dataset, 10),
    { before: [sister], options: KEEP, sizes: [8, 19, 50] },
  ),
  stops(
    'both companies in one file',
    'foreign_dataset',
    (all, dataset) => [...all, ...sisterOf(dataset, 10)],
    { before: [sister], sizes: [8, 19, 50] },
  ),
];
