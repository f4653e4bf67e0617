import { type Change, pick, mapCells, drop, hire, patchLast, changePhones } from './changes.js';
import { passes } from './night.js';
import { type Person, people } from './people.js';
import type { Stage } from './stage.js';
import { aUser, create } from '../support/data/factories.js';

/** First files, files after earlier events, and rows that fail every night. */

const keep = (all: readonly Person[]): readonly Person[] => all;
const ONE = () => 1;
const moveOffice = changePhones(pick(2, 3, 8, 60));
const changeDomain: Change = mapCells('email', (cell) => cell.replace('@', '@new.'));
/** Makes the last `count` rows fail with an invalid e-mail. */
const failLast = (count: (size: number) => number): Change => patchLast(count, () => ({ email: 'unknown' }));
const sisterOf = (dataset: string) => people(`${dataset}b`, 6);
const sisterOptions = (dataset: string) => `dataset=${dataset}b&missing=block`;
/** Creates users over the API for the first `count` people, with or without their external ids. */
const createUsers =
  (count: number, keys: boolean) =>
  async ({ app }: Stage, all: readonly Person[]): Promise<void> => {
    for (const { username, email, firstname, external_id, roles } of all.slice(0, count)) {
      await create(app.key, {
        username,
        email,
        firstname,
        roles: roles.split(';'),
        ...(keys && { external_id }),
      });
    }
  };
const createNone = () => Promise.resolve();
const createUnrelated = async ({ app }: Stage): Promise<void> => {
  await create(app.key, aUser());
};

export const NIGHTS_OF_HISTORY = [
  // First files.
  passes('a first file of a data set', { created: (size) => size }, keep, { empty: createNone }),
  passes('a first file of a data set if an unrelated user exists', { created: (size) => size }, keep, {
    empty: createUnrelated,
    sizes: [8, 19, 50],
  }),
  passes(
    'a first file that adopts existing users by e-mail',
    { created: (size) => size - 6, updated: 6 },
    keep,
    { empty: createUsers(6, false), options: 'missing=block&adopt=email' },
  ),
  passes(
    'a first file that updates existing users with the same external ids',
    { created: (size) => size - 6, updated: 6 },
    keep,
    { empty: createUsers(6, true) },
  ),

  // Files after earlier events.
  passes('the same changed file as last night', {}, moveOffice, { before: [{ file: moveOffice }] }),
  passes('the same file after an approved change of every e-mail', {}, changeDomain, {
    before: [{ file: changeDomain, then: 'approved' }],
  }),
  passes('a file with one new person after a file that waits for approval', { created: 1 }, hire(ONE), {
    before: [{ file: changeDomain, then: 'left' }],
  }),
  passes('a file with one new person after a file that failed', { created: 1 }, hire(ONE), {
    before: [{ file: () => 'sorry', then: 'left' }],
  }),
  passes(
    'other changes after a reverted run',
    { updated: 2 },
    (all) => all.map((person, i) => (i < 2 ? { ...person, phone: `${person.phone} x6` } : person)),
    { before: [{ file: moveOffice, then: 'reverted' }] },
  ),

  // Rows that fail every night.
  passes('failed rows up to the limit', { error: pick(4, 4, 5, 40) }, failLast(pick(4, 4, 5, 40))),
  passes('the same failed rows as last night', { error: pick(4, 4, 5, 40) }, failLast(pick(4, 4, 5, 40)), {
    before: [{ file: failLast(pick(4, 4, 5, 40)) }],
  }),
  passes(
    'twice as many failed rows as last night',
    { error: pick(8, 8, 10, 80) },
    failLast(pick(8, 8, 10, 80)),
    { before: [{ file: failLast(pick(4, 4, 5, 40)) }] },
  ),

  // Other sources.
  passes('a first file of a sister company', { created: 6 }, (_, dataset) => sisterOf(dataset), {
    options: sisterOptions,
  }),
  passes(
    'a person who moved to a sister company',
    { updated: 1 },
    (all, dataset) => [...sisterOf(dataset), { ...all.at(-1)!, manager: '' }],
    {
      options: sisterOptions,
      before: [{ file: (_, dataset) => sisterOf(dataset), options: sisterOptions }],
    },
  ),
  passes(
    'three people of a sister company in the file',
    {},
    (all, dataset) => [...all, ...sisterOf(dataset).slice(0, 3)],
    { before: [{ file: (_, dataset) => sisterOf(dataset), options: sisterOptions }] },
  ),
  passes('the return of four missing people', { reactivated: 4, created: 1 }, hire(ONE), {
    before: [{ file: drop(() => 2) }, { file: drop(() => 4) }],
    sizes: [19, 50, 400],
  }),
];
