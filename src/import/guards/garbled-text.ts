import type { FieldChange } from '../../platform/common/field-changes.js';
import { losesAccents } from '../plan/text-damage.js';
import { NAMES } from './changed-columns.js';
import { FoundRows } from './found-rows.js';
import { defineGuard } from './guard.js';

export const garbledText = defineGuard({
  name: 'garbled_text',
  counts: 'names that lose their accents',
  population: { text: 'the names that had accents', count: ({ users }) => users.accents },
  limits: { rows: 5, percent: 10 },
  explains: ['changed_field'],
  hint: 'Many names would lose their accented letters. The export probably uses another encoding or only ASCII. Export the file again as UTF-8, or choose its encoding (option encoding).',
  start() {
    const found = new FoundRows();
    return {
      add(row, changes) {
        for (const change of changes) if (isDamaged(change)) found.add(row, change);
      },
      finish: () => [{ found }],
    };
  },
});

const isDamaged = ({ field, old, new: now }: FieldChange): boolean =>
  NAMES.includes(field) && typeof old === 'string' && typeof now === 'string' && losesAccents(old, now);
