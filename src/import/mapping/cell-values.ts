import type { Column } from '../file/columns.js';

/** Any other word that is not blank. */
const OTHERS = '*';

/** The words of a source and what they mean, by the form in which they are compared. */
export type CellValues = ReadonlyMap<string, string>;

/** Words are compared in any case, and without spaces around them. */
export const wordKey = (word: string): string => word.trim().toLowerCase();

export function cellValues(words: Readonly<Record<string, string>>): CellValues {
  return new Map(Object.entries(words).map(([word, meaning]) => [wordKey(word), meaning]));
}

/** What a cell means; of a list of roles, each role. A word that is not listed stays as it is. */
export function translated(cell: string, values: CellValues, { kind }: Column): string {
  const meaning = (word: string): string => {
    const key = wordKey(word);
    return values.get(key) ?? (key === '' ? undefined : values.get(OTHERS)) ?? word;
  };
  return kind === 'roles' ? cell.split(/[;|]/).map(meaning).join(';') : meaning(cell);
}

/**
 * The status of a user whose source says it in several places: `Blocked` wins, then a word that is no status, which the
 * rules of the row refuse, then `Active`.
 */
export function combinedStatus(cells: readonly string[]): string {
  const filled = cells.filter((cell) => cell.trim() !== '');
  const is = (status: string) => (cell: string) => wordKey(cell) === status;
  return filled.find(is('blocked')) ?? filled.find((cell) => !is('active')(cell)) ?? filled[0] ?? '';
}
