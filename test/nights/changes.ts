import { type Field, type Person, newcomers } from './people.js';

/** What happens to a source between two nights: small pure functions over its people. */
export type Change = (all: readonly Person[]) => Person[];
type Patch = (person: Person, i: number, all: readonly Person[]) => Partial<Person>;

/** One change after the other. */
export const both =
  (...changes: Change[]): Change =>
  (all) =>
    changes.reduce<Person[]>((now, change) => change(now), [...all]);

/** Everybody is patched. */
export const each =
  (patch: Patch): Change =>
  (all) =>
    all.map((person, i) => ({ ...person, ...patch(person, i, all) }));

/** Those people are patched. */
export const where = (which: (i: number, person: Person) => boolean, patch: Patch): Change =>
  each((person, i, all) => (which(i, person) ? patch(person, i, all) : {}));

/** The last so many people are patched. */
export const last =
  (count: (size: number) => number, patch: Patch): Change =>
  (all) =>
    where((i) => i >= all.length - count(all.length), patch)(all);

/** A part of the people, at least one and rounded up. */
export const part =
  (percent: number) =>
  (size: number): number =>
    Math.max(1, Math.ceil((size * percent) / 100));

/** A number for each size of a source. */
export const bySize =
  (at8: number, at19: number, at50: number, at400: number) =>
  (size: number): number =>
    size >= 400 ? at400 : size >= 50 ? at50 : size >= 19 ? at19 : at8;

/** A column has these values, from the top. */
export const column =
  (field: Field, values: (all: readonly Person[]) => readonly string[]): Change =>
  (all) => {
    const cells = values(all);
    return all.map((person, i) => ({ ...person, [field]: cells[i] ?? '' }));
  };
const cells = (field: Field) => (all: readonly Person[]) => all.map((person) => person[field]);

/** A column is the result of its own cells, each with what they were. */
export const cellsOf = (field: Field, change: (cell: string, i: number, person: Person) => string): Change =>
  each((person, i) => ({ [field]: change(person[field], i, person) }));

/** All cells of these columns, where they are filled. */
export const text = (fields: readonly Field[], change: (cell: string) => string): Change =>
  each((person) => Object.fromEntries(fields.map((field) => [field, change(person[field])])));

export const constant = (field: Field, value: string): Change => each(() => ({ [field]: value }));

/** A column is sorted, and the rest of the sheet is not. */
export const sortedAlone = (field: Field, descending = false): Change =>
  column(field, (all) => {
    const sorted = cells(field)(all).toSorted();
    return descending ? sorted.reverse() : sorted;
  });

/** Each row has the cell of the row that is `by` below, the last ones those of the first. */
export const shifted = (field: Field, by = 1): Change =>
  column(field, (all) => all.map((_, i) => all[(i + by + all.length) % all.length]![field]));

/** The cells of `count` rows in a column come from one row above, beginning with the second row: a block pasted too low. */
export const pastedLow = (field: Field, count: (size: number) => number): Change =>
  column(field, (all) =>
    all.map((person, i) => (i > 0 && i <= count(all.length) ? all[i - 1]![field] : person[field])),
  );

/** The cells of the first `count` rows in a column move down by one row, the last one to the top. */
export const rotated = (field: Field, count: (size: number) => number): Change =>
  column(field, (all) => {
    const block = all.slice(0, count(all.length));
    return [...block.slice(-1), ...block.slice(0, -1), ...all.slice(block.length)].map(
      (person) => person[field],
    );
  });

/** The cell of the first of `count` rows is dragged down over the others. */
export const filledDown = (field: Field, count: (size: number) => number = (size) => size): Change =>
  column(field, (all) => all.map((person, i) => (i < count(all.length) ? all[0]![field] : person[field])));

export const swapped = (one: Field, other: Field): Change =>
  each((person) => ({ [one]: person[other], [other]: person[one] }));

export const copied = (from: Field, to: Field): Change => each((person) => ({ [to]: person[from] }));

/** The last so many are not in the file any more. */
export const gone =
  (count: (size: number) => number): Change =>
  (all) =>
    all.slice(0, all.length - count(all.length));

/** The text in the letters of ASCII, with `?` for the others: what a codepage without them writes. */
export const questioned = (cell: string): string => cell.replaceAll(/[^\x20-\x7e]/g, '?');

/** UTF-8 read as if it were Windows-1252, and written again. */
export const encodedTwice = (cell: string): string =>
  new TextDecoder('windows-1252').decode(new TextEncoder().encode(cell));

/** Windows-1252, for text that it has. */
export const windows1252 = (cell: string): Uint8Array => Buffer.from(cell, 'latin1');

export const blocked = (): Partial<Person> => ({ status: 'Blocked' });
export const active = (): Partial<Person> => ({ status: 'Active' });
export const half = (size: number): number => Math.ceil(size / 2);

/** The last so many are blocked by their status. */
export const someBlocked = (count: (size: number) => number): Change => last(count, blocked);

/** The next people of the source are in the file too. */
export const hired =
  (count: (size: number) => number, patch: Partial<Person> = {}): Change =>
  (all) => [...all, ...newcomers(all, count(all.length)).map((person) => ({ ...person, ...patch }))];

/** The last so many have another surname, and the names that go with it. */
export const married = (count: (size: number) => number): Change =>
  last(count, ({ surname, username, email }) => ({
    surname: `${surname}-Lee`,
    username: `lee.${username}`,
    email: `lee.${email}`,
  }));

/** The office of the last so many moves: other phones. */
export const movedOffice = (count: (size: number) => number): Change =>
  last(count, ({ phone }) => ({ phone: phone.replace('496', '555') }));
