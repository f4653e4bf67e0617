import { type Field, type Person, getNext } from './people.js';

/** Returns the people of a source after a change between two nights. */
export type Change = (all: readonly Person[]) => Person[];
type Patch = (person: Person, i: number, all: readonly Person[]) => Partial<Person>;

/** Combines changes, which are applied in order. */
export const combine =
  (...changes: Change[]): Change =>
  (all) =>
    changes.reduce<Person[]>((now, change) => change(now), [...all]);

/** Patches all people. */
export const patch =
  (edit: Patch): Change =>
  (all) =>
    all.map((person, i) => ({ ...person, ...edit(person, i, all) }));

/** Patches the people that `which` selects. */
export const patchIf = (which: (i: number, person: Person) => boolean, edit: Patch): Change =>
  patch((person, i, all) => (which(i, person) ? edit(person, i, all) : {}));

/** Patches the last `count` people. */
export const patchLast =
  (count: (size: number) => number, edit: Patch): Change =>
  (all) =>
    patchIf((i) => i >= all.length - count(all.length), edit)(all);

/** Returns a percentage of a size, rounded up and at least 1. */
export const share =
  (percent: number) =>
  (size: number): number =>
    Math.max(1, Math.ceil((size * percent) / 100));

/** Selects a number by the size of a source. */
export const pick =
  (at8: number, at19: number, at50: number, at400: number) =>
  (size: number): number =>
    size >= 400 ? at400 : size >= 50 ? at50 : size >= 19 ? at19 : at8;

/** Replaces the cells of a column, from top to bottom. */
const setColumn =
  (field: Field, values: (all: readonly Person[]) => readonly string[]): Change =>
  (all) => {
    const cells = values(all);
    return all.map((person, i) => ({ ...person, [field]: cells[i] ?? '' }));
  };
const readCells = (field: Field) => (all: readonly Person[]) => all.map((person) => person[field]);

/** Maps each cell of a column. */
export const mapCells = (field: Field, change: (cell: string, i: number, person: Person) => string): Change =>
  patch((person, i) => ({ [field]: change(person[field], i, person) }));

/** Maps the cells of several columns. */
export const mapText = (fields: readonly Field[], change: (cell: string) => string): Change =>
  patch((person) => Object.fromEntries(fields.map((field) => [field, change(person[field])])));

export const fillAll = (field: Field, value: string): Change => patch(() => ({ [field]: value }));

/** Sorts one column without the rest of the sheet. */
export const sortColumn = (field: Field, descending = false): Change =>
  setColumn(field, (all) => {
    const sorted = readCells(field)(all).toSorted();
    return descending ? sorted.reverse() : sorted;
  });

/** Moves the cells of a column up by `by` rows. The first cells move to the end. */
export const shiftUp = (field: Field, by = 1): Change =>
  setColumn(field, (all) => all.map((_, i) => all[(i + by + all.length) % all.length]![field]));

/** Copies the cells of the first `count` rows of a column one row down, like a block that is pasted too low. */
export const pasteLow = (field: Field, count: (size: number) => number): Change =>
  setColumn(field, (all) =>
    all.map((person, i) => (i > 0 && i <= count(all.length) ? all[i - 1]![field] : person[field])),
  );

/** Moves the first `count` cells of a column down by one row, and the last of them to the top. */
export const rotate = (field: Field, count: (size: number) => number): Change =>
  setColumn(field, (all) => {
    const block = all.slice(0, count(all.length));
    return [...block.slice(-1), ...block.slice(0, -1), ...all.slice(block.length)].map(
      (person) => person[field],
    );
  });

/** Copies the first cell of a column over all rows. */
export const fillDown = (field: Field): Change => setColumn(field, (all) => all.map(() => all[0]![field]));

export const swap = (one: Field, other: Field): Change =>
  patch((person) => ({ [one]: person[other], [other]: person[one] }));

export const copy = (from: Field, to: Field): Change => patch((person) => ({ [to]: person[from] }));

/** Removes the last `count` people. */
export const drop =
  (count: (size: number) => number): Change =>
  (all) =>
    all.slice(0, all.length - count(all.length));

/** Replaces letters outside ASCII with `?`, like a code page without these letters. */
export const maskAccents = (cell: string): string => cell.replaceAll(/[^\x20-\x7e]/g, '?');

/** Decodes the UTF-8 bytes of a text as Windows-1252. */
export const encodeTwice = (cell: string): string =>
  new TextDecoder('windows-1252').decode(new TextEncoder().encode(cell));

/** Encodes text as Windows-1252. All characters must exist in this encoding. */
export const toWindows1252 = (cell: string): Uint8Array => Buffer.from(cell, 'latin1');

export const block = (): Partial<Person> => ({ status: 'Blocked' });
export const activate = (): Partial<Person> => ({ status: 'Active' });
export const halfOf = (size: number): number => Math.ceil(size / 2);

/** Returns true for `count(size)` people who have nothing in common. The last person is one of them. */
const isPicked = (count: (size: number) => number, i: number, size: number): boolean =>
  ((i + 1) * 7) % size < count(size);

/** Blocks `count` people by their status. They have nothing in common. */
export const blockSome = (count: (size: number) => number): Change =>
  patch((_, i, { length }) => (isPicked(count, i, length) ? block() : {}));

/** Removes `count` people who have nothing in common. */
export const dropSome =
  (count: (size: number) => number): Change =>
  (all) =>
    all.filter((_, i) => !isPicked(count, i, all.length));

/** Adds the next people of the source. */
export const hire =
  (count: (size: number) => number, patch: Partial<Person> = {}): Change =>
  (all) => [...all, ...getNext(all, count(all.length)).map((person) => ({ ...person, ...patch }))];

/** Changes the surname, username and e-mail of the last `count` people. */
export const marry = (count: (size: number) => number): Change =>
  patchLast(count, ({ surname, username, email }) => ({
    surname: `${surname}-Lee`,
    username: `lee.${username}`,
    email: `lee.${email}`,
  }));

/** Changes the phones of the last `count` people. */
export const changePhones = (count: (size: number) => number): Change =>
  patchLast(count, ({ phone }) => ({ phone: phone.replace('496', '555') }));
