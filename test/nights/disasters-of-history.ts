import { bySize, each, married, movedOffice, someBlocked } from './changes.js';
import { stops } from './disaster.js';
import { ascii, newcomers, sheet } from './people.js';
import type { Before } from './stage.js';

/** Files of earlier nights, and what an operator has undone. */

const nights = (...counts: ((size: number) => number)[]): Before[] =>
  counts.map((count) => ({ file: someBlocked(count) }));
const officeMoved = movedOffice(bySize(2, 3, 8, 60));
const weddings = married(bySize(2, 2, 5, 30));

export const DISASTERS_OF_HISTORY = [
  // Files of earlier nights.
  stops('the file of the night before the last', 'old_file', (all) => all, {
    before: [{ file: (all) => [...all, ...newcomers(all, 1)] }],
  }),
  stops('the file of the week before', 'old_file', officeMoved, {
    before: [
      { file: officeMoved },
      { file: (all) => [...officeMoved(all), ...newcomers(all, 1)] },
      { file: (all) => [...officeMoved(all), ...newcomers(all, 2)] },
    ],
  }),
  stops('the first file of all, once more', 'old_file', (all) => all, {
    before: [{ file: weddings }, { file: (all) => officeMoved(weddings(all)) }],
  }),
  stops('an older file saved again: phones', 'old_file', (all) => sheet(all, { quoteAll: true }), {
    before: [{ file: officeMoved }],
    sizes: [50, 400],
  }),
  stops('an older file with one person more', 'old_file', (all) => [...all, ...newcomers(all, 1)], {
    before: [{ file: officeMoved }],
    sizes: [50, 400],
  }),
  stops(
    'an older file with leavers of last night',
    ['old_file', 'reactivations'],
    (all) => sheet(all, { lineEnd: '\n' }),
    { before: nights(bySize(0, 0, 5, 30)), sizes: [50, 400] },
  ),

  // What an operator has undone.
  stops('a file whose run was reverted', ['after_revert', 'old_file'], officeMoved, {
    before: [{ file: officeMoved, then: 'reverted' }],
  }),
  stops(
    'the changes of a reverted run, in a new file',
    'after_revert',
    (all) => [...officeMoved(all), ...newcomers(all, 1)],
    { before: [{ file: officeMoved, then: 'reverted' }] },
  ),
  stops(
    'the blocked people of a reverted run, in a new file',
    'after_revert',
    (all) => [...someBlocked(() => 2)(all), ...newcomers(all, 1)],
    { before: [{ file: someBlocked(() => 2), then: 'reverted' }] },
  ),
  stops(
    'accents lost, parked, and sent again the next night',
    ['garbled_text', 'changed_field surname'],
    each(({ surname }) => ({ surname: ascii(surname).replace('u', '?') })),
    {
      before: [
        { file: each(({ surname }) => ({ surname: ascii(surname).replace('u', '?') })), then: 'left' },
      ],
    },
  ),
];
