import {
  activate,
  block,
  pick,
  mapCells,
  fillAll,
  patch,
  drop,
  halfOf,
  share,
  blockSome,
  dropSome,
  patchIf,
} from './changes.js';
import { stops } from './disaster.js';
import { getNext } from './people.js';
import type { Before } from './stage.js';

/** Files that omit, block or reactivate people. */

const LOST = ['lost_together', 'deactivations'];
const SITE = '@site.example.org';
/** Gives one person in twelve an e-mail address of another site. */
const moveSome = patchIf(
  (i) => i % 12 === 5,
  ({ username }) => ({ email: `${username}${SITE}` }),
);
const blockHalf = patchIf((i) => i % 2 === 1, block);
const blockOnNights = (...counts: ((size: number) => number)[]): Before[] =>
  counts.map((count) => ({ file: blockSome(count) }));
const dropOnNights = (...counts: ((size: number) => number)[]): Before[] =>
  counts.map((count) => ({ file: dropSome(count) }));

export const DISASTERS_OF_PEOPLE = [
  // People missing from the file.
  stops('only half of the rows', LOST, drop(halfOf)),
  stops('only the first hundred rows', LOST, (all) => all.slice(0, 100), { sizes: [400] }),
  stops('a missing last page of the export', LOST, drop(share(40))),
  stops('one page repeated in place of the next page', LOST, (all) => [
    ...all.slice(0, halfOf(all.length)),
    ...all.slice(0, halfOf(all.length)),
  ]),
  stops('people without a mobile removed', LOST, (all) => all.filter(({ mobile }) => mobile !== ''), {
    sizes: [19, 50, 400],
  }),
  stops(
    'people of a site with its own e-mail domain removed',
    'lost_together',
    (all) => all.filter(({ email }) => !email.endsWith(SITE)),
    { base: moveSome, sizes: [150, 400] },
  ),
  stops('only new people', LOST, (all) => getNext(all, 5)),
  stops(
    'many new people with the same name',
    ['created', 'role_holders'],
    (all) => [
      ...all,
      ...getNext(all, all.length).map((person) => ({ ...person, firstname: 'Test', surname: 'User' })),
    ],
    { sizes: [19, 50, 400] },
  ),
  stops(
    '201 missing people of 2,500',
    'deactivations',
    drop(() => 201),
    { sizes: [2500] },
  ),

  // Statuses.
  stops('all people blocked', 'deactivations', fillAll('status', 'Blocked')),
  stops(
    'the unknown status Inactive for all people',
    ['errors', 'rows invalid_value'],
    fillAll('status', 'Inactive'),
  ),
  stops(
    'statuses reversed',
    ['deactivations', 'reactivations'],
    mapCells('status', (cell) => (cell === 'Active' ? 'Blocked' : 'Active')),
    { base: blockHalf },
  ),
  stops('all blocked people active again', 'reactivations', patch(activate), {
    base: blockHalf,
    sizes: [19, 50, 400],
  }),

  // Small changes that add up.
  stops('a few more people blocked every night', 'deactivations', blockSome(pick(7, 7, 13, 90)), {
    before: blockOnNights(pick(3, 3, 5, 30), pick(6, 6, 9, 60)),
  }),
  stops('a few more people missing every night', 'deactivations', dropSome(pick(0, 7, 13, 90)), {
    before: dropOnNights(pick(0, 3, 5, 30), pick(0, 5, 8, 60)),
    sizes: [19, 50, 400],
  }),
];
