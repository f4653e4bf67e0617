import { csv } from '../app/imports.js';

/** The columns that a new user needs. */
export const HEAD = 'ExternalId,Username,Email';

/** The row of a user whose name and address are built from the id. @param more cells after these. */
export const person = (id: string, ...more: string[]): string =>
  [id, id, `${id}@example.org`, ...more].join(',');

/** The rows of users whose ids are a prefix and a number. @param more cells after the first three. */
export const people = (prefix: string, count: number, more: (i: number) => string[] = () => []): string[] =>
  Array.from({ length: count }, (_, i) => person(`${prefix}${i}`, ...more(i)));

/** A file of one user. */
export const fileOf = (id: string): string => csv(HEAD, person(id));
