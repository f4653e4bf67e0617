import { type Field, type Person, getNext } from './people.js';

/** Returns the people of a source after a change between two nights. */
export type Change = (all: readonly Person[]) => Person[];
type Patch = (person: Person, i: number, all: readonly Person[]) => Partial<Person>;

/** Patches all people. */
export const patch =
  (edit: Patch): Change =>
  (all) =>
    all.map((person, i) => ({ ...person, ...edit(person, i, all) }));

/** Patches the people that `isIncluded` returns true for. */
export const patchIf = (isIncluded: (person: Person) => boolean, edit: Patch): Change =>
  patch((person, i, all) => (isIncluded(person) ? edit(person, i, all) : {}));

/** Patches the last `count` people. */
const patchLast = (count: number, edit: Patch): Change =>
  patch((person, i, all) => (i >= all.length - count ? edit(person, i, all) : {}));

/** Maps each cell of a column. */
export const mapCells = (field: Field, change: (cell: string) => string): Change =>
  patch((person) => ({ [field]: change(person[field]) }));

export const fillAll = (field: Field, value: string): Change => mapCells(field, () => value);

/** Sorts one column in descending order without the rest of the sheet. */
export const sortColumn =
  (field: Field): Change =>
  (all) => {
    const cells = all.map((person) => person[field]).toSorted();
    return patch((_, i) => ({ [field]: cells.at(-1 - i) ?? '' }))(all);
  };

/** Moves the cells of a column up by `by` rows. The first cells move to the end. */
export const shiftUp = (field: Field, by = 1): Change =>
  patch((_, i, all) => ({ [field]: all.at((i + by) % all.length)![field] }));

export const copy = (from: Field, to: Field): Change => patch((person) => ({ [to]: person[from] }));

/** Removes the last `count` people. */
export const drop =
  (count: number): Change =>
  (all) =>
    all.slice(0, all.length - count);

/** Blocks `count` people by their status. They have nothing in common. */
export const blockSome = (count: number): Change =>
  patch((_, i, { length }) => (((i + 1) * 7) % length < count ? { status: 'Blocked' } : {}));

/** Adds the next people of the source. */
export const hire =
  (count: number, patch: Partial<Person> = {}): Change =>
  (all) => [...all, ...getNext(all, count).map((person) => ({ ...person, ...patch }))];

/** Changes the surname, username and e-mail of the last `count` people. */
export const marry = (count: number): Change =>
  patchLast(count, ({ surname, username, email }) => ({
    surname: `${surname}-Lee`,
    username: `lee.${username}`,
    email: `lee.${email}`,
  }));

/** Changes the phones of the last `count` people. */
export const changePhones = (count: number): Change =>
  patchLast(count, ({ phone }) => ({ phone: phone.replace('496', '555') }));
