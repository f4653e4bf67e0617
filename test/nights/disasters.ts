import type { Disaster } from './disaster.js';
import { DISASTERS_OF_FILES } from './disasters-of-files.js';
import { DISASTERS_OF_HISTORY } from './disasters-of-history.js';
import { DISASTERS_OF_KEYS } from './disasters-of-keys.js';
import { DISASTERS_OF_ORDER } from './disasters-of-order.js';
import { DISASTERS_OF_PEOPLE } from './disasters-of-people.js';
import { DISASTERS_OF_TEXT } from './disasters-of-text.js';
import { DISASTERS_OF_VALUES } from './disasters-of-values.js';

/** Files that must not change a user, grouped by their defect. */
export const DISASTERS: readonly Disaster[] = [
  ...DISASTERS_OF_ORDER,
  ...DISASTERS_OF_VALUES,
  ...DISASTERS_OF_TEXT,
  ...DISASTERS_OF_PEOPLE,
  ...DISASTERS_OF_KEYS,
  ...DISASTERS_OF_HISTORY,
  ...DISASTERS_OF_FILES,
];
