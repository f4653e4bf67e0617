import { losesAccents } from '../plan/text-damage.js';
import { computeLimit, countRows, defineGuard } from './guard.js';

const NAMES: readonly string[] = ['firstname', 'surname', 'middle_name', 'known_as'];

export const garbledText = defineGuard({
  name: 'garbled_text',
  counts: 'names that lose their accents',
  among: 'the names that had accents',
  limits: { rows: 5, percent: 10 },
  explains: ['changed_field'],
  hint: 'Many names would lose their accented letters. The export probably uses another encoding or only ASCII. Export the file again as UTF-8, or set the option encoding.',
  start: ({ users }, limits) =>
    countRows(
      (_, changes) =>
        changes.find(
          ({ field, old, new: now }) =>
            NAMES.includes(field) &&
            typeof old === 'string' &&
            typeof now === 'string' &&
            losesAccents(old, now),
        ),
      () => computeLimit(limits, users.accents),
    ),
});
