import { FoundRows } from './found-rows.js';
import { ALL_ROWS, defineGuard } from './guard.js';

/** Rows with a word that no completed run had, and that only `*` of the profile's values matches. */
export const unknownWord = defineGuard({
  name: 'unknown_word',
  counts: "rows with a new word that only `*` of the profile's values matches",
  population: ALL_ROWS,
  limits: { rows: 3, percent: 1 },
  explains: ['lost_together', 'deactivations', 'reactivations', 'role_holders', 'changed_field'],
  hint: 'The file contains words that the profile does not list, and that no earlier file had. The profile translates them with *. Add these words to the values of the profile, and import the file again.',
  start: ({ words, past: { knownWords } }) => ({
    finish() {
      if (!knownWords) return [];
      const found = new FoundRows();
      const known = new Map(Object.entries(knownWords));
      const news: string[] = [];
      for (const { column, word, rows, line } of words.list()) {
        if (known.get(column)?.includes(word)) continue;
        found.add({ line, external_id: '' }, { old: null, new: word });
        found.count += rows - 1;
        news.push(`"${word}" in ${column} (${rows} rows)`);
      }
      const detail = `New words: ${news.slice(0, 5).join(', ')}.`;
      return [{ found, detail }];
    },
  }),
});
