import { beforeEach } from '@jest/globals';
import { csv } from '../app/imports.js';

/** Columns that a new user needs. */
export const HEAD = 'ExternalId,Username,Email';

/** Builds the row of a user whose name and address contain the id. @param more cells after the first three. */
export const person = (id: string, ...more: string[]): string =>
  [id, id, `${id}@example.org`, ...more].join(',');

/** Builds rows of users whose ids are a prefix with a number. @param more cells after the first three. */
export const people = (prefix: string, count: number, more: (i: number) => string[] = () => []): string[] =>
  Array.from({ length: count }, (_, i) => person(`${prefix}${i}`, ...more(i)));

/** Builds a file with one user. */
export const fileOf = (id: string): string => csv(HEAD, person(id));

/** Gives each test of a file its own ids. @returns functions that build the id and the row of a name. */
export function setUpIds() {
  let number = 0;
  beforeEach(() => {
    number++;
  });
  const toId = (name: string) => `t${number}-${name}`;
  return { toId, person: (name: string, ...more: string[]) => person(toId(name), ...more) };
}
