import { type Change, mapCells } from './changes.js';
import { stops } from './disaster.js';
import { type Field, type Person, people, personOf, toCsv } from './people.js';
import type { Before, Source } from './stage.js';

/** Files with other external ids, or with other people. */

const KEEP = 'missing=keep';
const OTHER_IDS = ['errors', 'deactivations', 'rows'];
const mapIds = (change: (key: string, i: number) => string): Change => mapCells('external_id', change);
const writeFields =
  (fields: readonly Field[], change: Change): Source =>
  (all) =>
    toCsv(change(all), { fields });
/** Returns people of another source, optionally with the external ids of this source. */
const toOthers = (all: readonly Person[], dataset: string, sameKeys: boolean): Person[] =>
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
  // Other external ids.
  stops(
    'external ids in upper case',
    OTHER_IDS,
    mapIds((key) => key.toUpperCase()),
  ),
  stops(
    'external ids in scientific notation',
    ['errors', 'deactivations', 'rows spreadsheet_number'],
    mapIds(() => '1.00123E+11'),
  ),
  stops(
    'external ids cut after six characters',
    ['errors', 'deactivations', 'rows duplicate'],
    mapIds((key) => key.slice(0, 6)),
  ),
  stops(
    'external ids of a new system, with missing=keep',
    ['errors', 'rows'],
    mapIds((key) => `hr-${key}`),
    { options: KEEP },
  ),
  stops(
    'external ids without their leading zeros, in a file without names',
    ['errors', 'deactivations'],
    writeFields(
      ['external_id', 'phone', 'mobile'],
      mapIds((key) => key.replace(/^0+/, '')),
    ),
  ),
  stops(
    'external ids with a prefix, with mode=update_only',
    'deactivations',
    mapIds((key) => `EMP${key}`),
    { options: 'missing=block&mode=update_only' },
  ),
  stops('external ids exchanged between people', ['other_person', 'errors'], (all) =>
    all.map((person, i) => ({
      ...all[(i + 3) % all.length]!,
      external_id: person.external_id,
      manager: person.manager,
    })),
  ),

  // Files with other people.
  stops(
    'a file of a test system with the same external ids and fictional people',
    'other_person',
    (all, dataset) => toOthers(all, dataset, true),
  ),
  stops('a file of another company', ['deactivations', 'created'], (all, dataset) =>
    toOthers(all, dataset, false),
  ),
  stops(
    'a file of another company, with missing=keep',
    ['created', 'role_holders'],
    (all, dataset) => toOthers(all, dataset, false),
    { options: KEEP, sizes: [19, 50, 400] },
  ),
  stops('a second row with another phone for each person', ['errors', 'rows duplicate'], (all) => [
    ...all,
    ...mapCells('phone', () => '+44 113 496 0001')(all),
  ]),
  stops('a misspelled name of the data set', 'foreign_dataset', (all) => all, {
    options: (dataset) => `dataset=${dataset}x&missing=block`,
  }),
  stops(
    'a file of a sister company that has its own data set, with missing=keep',
    'foreign_dataset',
    (_, dataset) => sisterOf(dataset, 10),
    { before: [sister], options: KEEP, sizes: [8, 19, 50] },
  ),
  stops(
    'additional rows with the people of a sister company that has its own data set',
    'foreign_dataset',
    (all, dataset) => [...all, ...sisterOf(dataset, 10)],
    { before: [sister], sizes: [8, 19, 50] },
  ),
];
