import type { Night } from './night.js';
import { NIGHTS_OF_COLUMNS } from './nights-of-columns.js';
import { NIGHTS_OF_FILES } from './nights-of-files.js';
import { NIGHTS_OF_HISTORY } from './nights-of-history.js';
import { NIGHTS_OF_MOVES } from './nights-of-moves.js';
import { NIGHTS_OF_PEOPLE } from './nights-of-people.js';

/** Ordinary files, which must pass without an approval. */
export const NIGHTS: readonly Night[] = [
  ...NIGHTS_OF_PEOPLE,
  ...NIGHTS_OF_MOVES,
  ...NIGHTS_OF_COLUMNS,
  ...NIGHTS_OF_FILES,
  ...NIGHTS_OF_HISTORY,
];
