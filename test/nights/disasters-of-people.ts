import {
  active,
  blocked,
  bySize,
  cellsOf,
  constant,
  each,
  gone,
  half,
  part,
  someBlocked,
  where,
} from './changes.js';
import { stops } from './disaster.js';
import { newcomers } from './people.js';
import type { Before } from './stage.js';

/** Files that lack people, block them or bring them back. */

const LOST = ['deactivations', 'shrunken_file'];
const halfBlocked = where((i) => i % 2 === 1, blocked);
const nights = (...counts: ((size: number) => number)[]): Before[] =>
  counts.map((count) => ({ file: someBlocked(count) }));
const missing = (...counts: ((size: number) => number)[]): Before[] =>
  counts.map((count) => ({ file: gone(count) }));

export const DISASTERS_OF_PEOPLE = [
  // People that the file lacks.
  stops('half of the file', LOST, gone(half)),
  stops('the first hundred rows only', LOST, (all) => all.slice(0, 100), { sizes: [400] }),
  stops('the last page of the export is lost', LOST, gone(part(25))),
  stops('a page repeated, another one lost', LOST, (all) => [
    ...all.slice(0, half(all.length)),
    ...all.slice(0, half(all.length)),
  ]),
  stops('a join that loses those without mobile', LOST, (all) => all.filter(({ mobile }) => mobile !== '')),
  stops('one missing person too many', LOST, gone(bySize(2, 4, 6, 41))),
  stops('only the people who were hired today', ['deactivations', 'shrunken_file', 'changed_keys'], (all) =>
    newcomers(all, 5),
  ),
  stops(
    'many people of one name',
    ['same_value firstname', 'same_value surname'],
    (all) => [
      ...all,
      ...newcomers(all, all.length).map((person) => ({ ...person, firstname: 'Test', surname: 'User' })),
    ],
    { sizes: [19, 50, 400] },
  ),
  stops(
    'one missing person more than two hundred of 2,500',
    'deactivations',
    gone(() => 201),
    { sizes: [2500] },
  ),

  // Statuses.
  stops('everybody blocked', 'deactivations', constant('status', 'Blocked')),
  stops('everybody Inactive', ['errors', 'rows invalid_value'], constant('status', 'Inactive')),
  stops(
    'statuses the other way around',
    ['deactivations', 'reactivations'],
    cellsOf('status', (cell) => (cell === 'Active' ? 'Blocked' : 'Active')),
    { base: halfBlocked },
  ),
  stops('all who had left are active again', 'reactivations', each(active), {
    base: halfBlocked,
    sizes: [19, 50, 400],
  }),
  stops('one blocked person too many', 'deactivations', someBlocked(bySize(4, 4, 6, 41))),
  stops('one reactivated person too many', 'reactivations', each(active), {
    base: someBlocked(bySize(6, 6, 6, 37)),
  }),

  // Small files add up.
  stops('a few more blocked every night', 'deactivations', someBlocked(bySize(7, 7, 13, 90)), {
    before: nights(bySize(3, 3, 5, 30), bySize(6, 6, 9, 60)),
  }),
  stops('a few more missing every night', 'deactivations', gone(bySize(0, 7, 13, 90)), {
    before: missing(bySize(0, 3, 5, 30), bySize(0, 5, 8, 60)),
    sizes: [19, 50, 400],
  }),
  stops(
    'a few missing, then a few blocked, then a few missing',
    'deactivations',
    gone(bySize(0, 7, 13, 90)),
    {
      before: [
        ...missing(bySize(0, 3, 5, 30)),
        { file: (all) => someBlocked(bySize(0, 2, 4, 30))(gone(bySize(0, 3, 5, 30))(all)) },
      ],
      sizes: [19, 50, 400],
    },
  ),
];
