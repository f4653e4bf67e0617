import { pick, patch, marry, changePhones, blockSome } from './changes.js';
import { stops } from './disaster.js';
import { toAscii, getNext, toCsv } from './people.js';
import type { Before } from './stage.js';

/** Files of earlier nights, and changes that an operator has reverted. */

const blockOnNights = (...counts: ((size: number) => number)[]): Before[] =>
  counts.map((count) => ({ file: blockSome(count) }));
const moveOffice = changePhones(pick(2, 3, 8, 60));
const dropAccents = patch(({ surname }) => ({ surname: toAscii(surname) }));
const marryFew = marry(pick(2, 2, 5, 30));

export const DISASTERS_OF_HISTORY = [
  // Files of earlier nights.
  stops('the file of the night before last', 'old_file', (all) => all, {
    before: [{ file: (all) => [...all, ...getNext(all, 6)] }],
  }),
  stops('the first file of the data set, sent again', 'old_file', (all) => all, {
    before: [{ file: marryFew }, { file: (all) => moveOffice(marryFew(all)) }],
    sizes: [50, 400],
  }),
  stops('an older file saved again with quotes', 'old_file', (all) => toCsv(all, { quoteAll: true }), {
    before: [{ file: moveOffice }],
    sizes: [50, 400],
  }),
  stops(
    'an older file with people whom the last file blocked',
    ['old_file', 'reactivations'],
    (all) => toCsv(all, { lineEnd: '\n' }),
    { before: blockOnNights(pick(0, 0, 4, 20), pick(0, 0, 8, 40)), sizes: [50, 400] },
  ),

  // Changes that an operator has reverted.
  stops('the file of a reverted run, sent again', ['after_revert', 'old_file'], moveOffice, {
    before: [{ file: moveOffice, then: 'reverted' }],
  }),
  stops(
    'the changes of a reverted run in a new file',
    'after_revert',
    (all) => [...moveOffice(all), ...getNext(all, 1)],
    { before: [{ file: moveOffice, then: 'reverted' }] },
  ),
  stops(
    'the blocked people of a reverted run in a new file',
    'after_revert',
    (all) => [...blockSome(() => 2)(all), ...getNext(all, 1)],
    { before: [{ file: blockSome(() => 2), then: 'reverted' }] },
  ),
  stops(
    'a file with lost accents, sent again while its first run waits for approval',
    'garbled_text',
    dropAccents,
    { before: [{ file: dropAccents, then: 'left' }], sizes: [19, 50, 400] },
  ),
];
