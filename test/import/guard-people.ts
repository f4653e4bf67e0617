import type { Client, Json } from '../support/app/client.js';
import { csv, imported } from '../support/app/imports.js';

/** The data set of the test that runs, and who sends its files. */
export let dataset = '';
let client: Client;
export function begin(key: Client, name: string): void {
  client = key;
  dataset = name;
}

const COLUMNS = [
  'ExternalId',
  'Username',
  'Email',
  'ForeName',
  'Surname',
  'Phone',
  'Mobile',
  'Authname',
  'Roles',
  'Manager',
  'HideEmail',
  'Linkedin',
  'KnownAs',
  'Status',
] as const;
export type Column = (typeof COLUMNS)[number];
export type Person = Record<Column, string>;

const FORENAMES = ['Ann', 'José', 'Zoë', 'Bjørn', 'Eve', 'François', 'Grace', 'Jürgen', 'Ida'];
const SURNAMES = ['Müller', 'Sørensen', 'Núñez', 'Smith', 'Łukasiewicz', 'Weiß', 'Jones', 'Åberg'];
const at = (list: readonly string[], index: number): string => list[index % list.length] ?? '';
const three = (index: number): string => String(index).padStart(3, '0');

/** Somebody of a data set; every tenth is a manager of the nine after them. */
export function person(i: number): Person {
  const id = `${dataset}-${three(i)}`;
  return {
    ExternalId: id,
    Username: `${dataset}.u${three((i * 37) % 1000)}`,
    Email: `${dataset}.m${three((i * 53) % 1000)}@example.org`,
    ForeName: at(FORENAMES, i * 5),
    Surname: `${at(SURNAMES, i * 3)}${i > 40 ? '' : at(['son', 'mann'], i)}`,
    Phone: `+4420 7946 ${String(1000 + ((i * 71) % 1000))}`,
    Mobile: `+4477 0090 ${String(1000 + ((i * 31) % 1000))}`,
    Authname: `${dataset}/a${three((i * 91) % 1000)}`,
    Roles: i % 10 === 0 ? 'Section manager' : 'Publisher',
    Manager: i % 10 === 0 ? '' : `${dataset}-${three(i - (i % 10))}`,
    HideEmail: i % 20 === 0 ? 'true' : 'false',
    Linkedin: `https://linkedin.com/in/${id}`,
    KnownAs: i % 12 === 0 ? `Nick${i}` : '',
    Status: 'Active',
  };
}

export const people = (count: number, from = 0): Person[] =>
  Array.from({ length: count }, (_, i) => person(i + from));
const fileOf = (list: readonly Person[], columns: readonly Column[] = COLUMNS): string =>
  csv(columns.join(','), ...list.map((one) => columns.map((column) => `"${one[column]}"`).join(',')));
export const load = async (
  list: readonly Person[],
  options = '',
  columns = COLUMNS as readonly Column[],
): Promise<Json> => imported(client, fileOf(list, columns), `dataset=${dataset}${options}`);
export const hits = (run: Json): string[] =>
  (run.guards as Json[])
    .filter(({ hit }) => hit)
    .map(({ name, field }) => (field === null ? name : `${name as string}:${field as string}`));

/** Some people with some of their fields changed. */
export const with_ = (
  list: Person[],
  change: (one: Person, i: number, all: Person[]) => Partial<Person>,
): Person[] => list.map((one, i) => ({ ...one, ...change(one, i, list) }));
/** A column whose values are put to other rows. */
export const rearranged = (
  list: Person[],
  column: Column,
  order: (values: string[]) => string[],
): Person[] => {
  const values = order(list.map((one) => one[column]));
  return with_(list, (_, i) => ({ [column]: at(values, i) }));
};
export const slid = (values: string[]): string[] => [...values.slice(-1), ...values.slice(0, -1)];
export const sorted = (values: string[]): string[] => [...values].sort();
/** Only the first rows. */
export const partly = (list: Person[], rows: number, change: (part: Person[]) => Person[]): Person[] => [
  ...change(list.slice(0, rows)),
  ...list.slice(rows),
];
export const latin = (text: string): string => Buffer.from(text, 'utf8').toString('latin1');
export const ascii = (text: string): string => text.replace(/[^\0-\x7f]/g, '?');
export const plain = (text: string): string => text.normalize('NFKD').replace(/\p{M}/gu, '');
