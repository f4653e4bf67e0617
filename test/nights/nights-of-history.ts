import { type Change, bySize, cellsOf, gone, hired, last, movedOffice } from './changes.js';
import { passes } from './night.js';
import { type Person, people } from './people.js';
import type { Stage } from './stage.js';
import { aUser, create } from '../support/data/factories.js';

/** First files; what other sources, users and operators did before; errors that stay. */

const same = (all: readonly Person[]): readonly Person[] => all;
const ONE = () => 1;
const moved = movedOffice(bySize(2, 3, 8, 60));
const newDomain: Change = cellsOf('email', (cell) => cell.replace('@', '@new.'));
/** So many rows that fail, from the bottom: an address that is none. */
const failing = (count: (size: number) => number): Change => last(count, () => ({ email: 'unknown' }));
const sister = (dataset: string) => people(`${dataset}b`, 6);
const inSister = (dataset: string) => `dataset=${dataset}b&missing=block`;
/** Users that somebody made by hand, for the first of these people, with or without their keys. */
const byHand =
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
const nobody = () => Promise.resolve();
const strangers = async ({ app }: Stage): Promise<void> => {
  await create(app.key, aUser());
};

export const NIGHTS_OF_HISTORY = [
  // First files.
  passes('the first file', { created: (size) => size }, same, { empty: nobody }),
  passes('the first file, where other people are already', { created: (size) => size }, same, {
    empty: strangers,
    sizes: [8, 19, 50],
  }),
  passes(
    'the first file takes over users made by hand, by e-mail',
    { created: (size) => size - 6, updated: 6 },
    same,
    { empty: byHand(6, false), options: 'missing=block&adopt=email' },
  ),
  passes(
    'the first file takes over users made by hand, by username',
    { created: (size) => size - 6, updated: 6 },
    same,
    { empty: byHand(6, false), options: 'missing=block&adopt=username', sizes: [8, 19, 50] },
  ),
  passes(
    'the first file finds users made with their keys',
    { created: (size) => size - 6, updated: 6 },
    same,
    { empty: byHand(6, true) },
  ),

  // What happened before.
  passes('the same file as last night', {}, moved, { before: [{ file: moved }] }),
  passes(
    'a person hired on the night after an office moved',
    { created: 1 },
    (all) => hired(ONE)(moved(all)),
    {
      before: [{ file: moved }],
    },
  ),
  passes('the night after an approved change of every address', {}, newDomain, {
    before: [{ file: newDomain, then: 'approved' }],
  }),
  passes('a good file after one that was parked', { created: 1 }, hired(ONE), {
    before: [{ file: newDomain, then: 'left' }],
  }),
  passes('a good file after one that failed', { created: 1 }, hired(ONE), {
    before: [{ file: () => 'sorry', then: 'left' }],
  }),
  passes('the file of last night after one that was parked', {}, same, {
    before: [{ file: newDomain, then: 'left' }],
  }),
  passes(
    'other changes after a revert',
    { updated: 2 },
    (all) => all.map((person, i) => (i < 2 ? { ...person, phone: `${person.phone} x6` } : person)),
    { before: [{ file: moved, then: 'reverted' }] },
  ),

  // Errors that stay.
  passes('rows fail, as many as may', { error: bySize(4, 4, 5, 40) }, failing(bySize(4, 4, 5, 40))),
  passes('the same rows fail every night', { error: bySize(4, 4, 5, 40) }, failing(bySize(4, 4, 5, 40)), {
    before: [{ file: failing(bySize(4, 4, 5, 40)) }],
  }),
  passes(
    'as many rows more fail as did last night',
    { error: bySize(8, 8, 10, 80) },
    failing(bySize(8, 8, 10, 80)),
    { before: [{ file: failing(bySize(4, 4, 5, 40)) }] },
  ),
  passes(
    'one unknown manager',
    { error: 1 },
    (all) => [...all.slice(0, -1), { ...all.at(-1)!, manager: 'nobody' }],
    { sizes: [8, 19, 50] },
  ),

  // Other sources.
  passes('the first file of a sister company', { created: 6 }, (_, dataset) => sister(dataset), {
    options: inSister,
  }),
  passes(
    'a person moves to the sister company',
    { reactivated: 1 },
    (all, dataset) => [...sister(dataset), { ...all.at(-1)!, manager: '' }],
    {
      options: inSister,
      before: [{ file: (_, dataset) => sister(dataset), options: inSister }, { file: gone(() => 1) }],
    },
  ),
  passes(
    'three people of the sister company are in the file, too',
    {},
    (all, dataset) => [...all, ...sister(dataset).slice(0, 3)],
    { before: [{ file: (_, dataset) => sister(dataset), options: inSister }] },
  ),
  passes('four leavers of two nights return at once', { reactivated: 4, created: 1 }, hired(ONE), {
    before: [{ file: gone(() => 2) }, { file: gone(() => 4) }],
    sizes: [19, 50, 400],
  }),
];
