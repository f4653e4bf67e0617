import fc from 'fast-check';
import type { UserChange } from '../../../src/users/writer/change-set.js';
import { csv } from '../app/imports.js';

/** Random users, files and options for the test that compares the plan of an import with the user writer. */

export interface Person {
  external: boolean;
  status: 'Active' | 'Blocked';
  webmaster: boolean;
  manager: number;
  dataset: string;
}
export interface Row {
  id: number;
  username: string;
  email: string;
  status: string;
  roles: string;
  manager: string;
}
export interface Options {
  adopt: 'none' | 'email' | 'username';
  blank: 'clear' | 'keep';
  mode: 'upsert' | 'create_only' | 'update_only';
  dataset: string;
  managers: boolean;
}

const DATASETS = ['one', 'two'] as const;
export const person: fc.Arbitrary<Person> = fc.record({
  external: fc.integer({ min: 0, max: 3 }).map((n) => n > 0),
  status: fc.constantFrom('Active', 'Active', 'Blocked'),
  webmaster: fc.integer({ min: 0, max: 4 }).map((n) => n === 0),
  manager: fc.integer({ min: 0, max: 7 }),
  dataset: fc.constantFrom(...DATASETS),
});
/** Numbers of existing and free names. Each column also gets values of the other one. */
const name = fc.integer({ min: 0, max: 11 });
const row: fc.Arbitrary<Row> = fc.record({
  id: fc.integer({ min: 0, max: 11 }),
  username: fc.oneof(
    { weight: 2, arbitrary: fc.constant('') },
    { weight: 6, arbitrary: name.map((n) => `n${n}`) },
    { weight: 1, arbitrary: name.map((n) => `M${n}@x.example`) },
  ),
  email: fc.oneof(
    { weight: 2, arbitrary: fc.constant('') },
    { weight: 6, arbitrary: name.map((n) => `m${n}@x.example`) },
  ),
  status: fc.constantFrom('', '', 'Active', 'Blocked'),
  roles: fc.constantFrom('', '', '', 'Organisational user', 'Webmaster', 'External user;Webmaster'),
  manager: fc.oneof(
    { weight: 3, arbitrary: fc.constant('') },
    { weight: 4, arbitrary: fc.integer({ min: 0, max: 11 }).map((n) => `k${n}`) },
  ),
});
/** Rows of users who exchange names, addresses and managers: swaps, rings, and chains that end at a free name. */
const exchange: fc.Arbitrary<Row[]> = fc
  .record({
    ids: fc.shuffledSubarray([0, 1, 2, 3, 4, 5, 6, 7], { minLength: 2 }),
    step: fc.integer({ min: 1, max: 7 }),
    column: fc.constantFrom('username', 'email', 'both', 'manager'),
    status: fc.constantFrom('', '', 'Blocked', 'Active'),
    roles: fc.constantFrom('', '', 'Organisational user', 'Webmaster'),
  })
  .map(({ ids, step, column, status, roles }) =>
    ids.map((id, index): Row => {
      const other = step === 7 ? id + 1 : ids[(index + step) % ids.length];
      const takes = (field: string) => column === field || (column === 'both' && field !== 'manager');
      return {
        id,
        username: takes('username') ? `n${other}` : '',
        email: takes('email') ? `m${other}@x.example` : '',
        status: index % 3 === 0 ? status : '',
        roles: index % 2 === 0 ? roles : '',
        manager: takes('manager') && other !== id ? `k${other}` : '',
      };
    }),
  );
/** Files with unique ExternalIds, files of up to 50 rows with repeated ones, and exchanges mixed with other rows. */
export const file = fc.oneof(
  fc.uniqueArray(row, { minLength: 1, maxLength: 12, selector: ({ id }) => id }),
  fc.array(row, { minLength: 1, maxLength: 50 }),
  fc
    .tuple(exchange, fc.array(row, { maxLength: 3 }))
    .map(([rows, others]) => [...rows, ...others.filter(({ id }) => !rows.some((one) => one.id === id))]),
);
export const options: fc.Arbitrary<Options> = fc.record({
  adopt: fc.constantFrom('none', 'none', 'email', 'username'),
  blank: fc.constantFrom('clear', 'keep'),
  mode: fc.constantFrom('upsert', 'upsert', 'upsert', 'create_only', 'update_only'),
  dataset: fc.constantFrom(...DATASETS),
  managers: fc.boolean(),
});

/** Writes rows to a CSV file. */
export const toFile = (rows: readonly Row[], { managers }: Options): string =>
  csv(
    `ExternalId,Username,Email,Status,Roles${managers ? ',Manager' : ''}`,
    ...rows.map(({ id, username, email, status, roles, manager }) =>
      [`k${id}`, username, email, status, roles, ...(managers ? [manager] : [])].join(','),
    ),
  );

/** A stored user of a test case. */
export interface Seeded {
  uuid: string;
  external: string;
  username: string;
  email: string;
  /** Data set that blocked the user. Only its files lift the block. */
  blockedBy: string | null;
}

/** Converts a row to the change that a request would contain. */
export function changeOf(
  one: Row,
  user: Seeded | undefined,
  uuidOf: (external: string) => string,
  { blank, managers, dataset }: Options,
): UserChange {
  const clears = blank === 'clear';
  const manager = one.manager === '' ? (clears ? null : undefined) : uuidOf(one.manager);
  const keepsBlock = user !== undefined && user.blockedBy !== null && user.blockedBy !== dataset;
  const patch = {
    ...(one.username !== '' && { username: one.username }),
    ...(one.email !== '' && { email: one.email }),
    ...(one.status !== '' && !keepsBlock && { status: one.status as 'Active' | 'Blocked' }),
    ...(one.roles !== '' && { roles: one.roles.split(';') }),
    ...(managers && manager !== undefined && { manager_uuid: manager }),
    external_id: `k${one.id}`,
  };
  if (user) return { kind: 'update', uuid: user.uuid, patch };
  return { kind: 'create', uuid: uuidOf(`k${one.id}`), patch: { ...patch, managed_by: dataset } };
}
