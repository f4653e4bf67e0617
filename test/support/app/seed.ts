import { DATABASE, type Database } from '../../../src/platform/database/engine/database.js';
import { TransactionRunner } from '../../../src/platform/database/transaction-runner.js';
import { UserCounts } from '../../../src/users/writer/user-counts.service.js';
import type { User } from '../../../src/users/model/user.js';
import { createEmptyUser } from '../../../src/users/rules/user-rules.js';
import { FORENAMES, SURNAMES } from '../../../samples/names.js';
import { insertUsers } from '../data/insert-users.js';
import type { TestApp } from './app.js';
import { agent } from './client.js';

/** Number of users with rare values. A filter for rare values has the same matches in a seed of any size. */
export const RARE = 20;
const REPORTS = 8;
const AT_ONCE = 2000;
const FIRST_MOMENT = Date.UTC(2024, 0, 1);

const toHex = (number: number, digits: number): string => number.toString(16).padStart(digits, '0');
const toMoment = (n: number): string =>
  new Date(FIRST_MOMENT + n * 1000).toISOString().replace('T', ' ').replace('Z', '');

/** Returns the UUID of the n-th seeded user, from 0. The UUIDs sort by number. */
export const seededUuid = (n: number): string =>
  `${toHex(FIRST_MOMENT + n * 1000, 12).replace(/^(.{8})/, '$1-')}-7000-8000-${toHex(n, 12)}`;

/** Returns the UUIDs of the seeded users `from` to `to` (exclusive). */
export const seededUuids = (from: number, to: number): string[] =>
  Array.from({ length: to - from }, (_, n) => seededUuid(from + n));

const pick = (list: readonly string[], n: number): string => list[n % list.length] ?? '';

/** Returns the n-th user of a seed, which is always the same. */
export function seededUser(n: number): User {
  const rare = n < RARE;
  const number = String(n).padStart(7, '0');
  return {
    ...createEmptyUser(seededUuid(n), toMoment(n)),
    username: `u${number}`,
    email: `u${number}@${rare ? 'zebra.' : ''}example.org`,
    phone: rare ? `+44 20 ${number}` : '+44 20 7946 0000',
    external_id: rare ? '' : `HR-${number}`,
    firstname: pick(FORENAMES, n),
    surname: n % 50 === 49 ? '' : pick(SURNAMES, Math.floor(n / 7)),
    known_as: rare ? 'Zebra' : '',
    status: rare ? 'Blocked' : 'Active',
    roles: rare ? ['Editor'] : ['Organisational user'],
    authname: n % 10 === 0 ? { saml: [`u${number}`] } : {},
    manager_uuid: n === 0 ? null : seededUuid(Math.floor((n - 1) / REPORTS)),
    managed_by: rare ? 'pilot' : 'default',
  };
}

/** Inserts the users `from` to `to` (exclusive) without checks and audit events. */
export async function seedUsers(
  { app }: TestApp,
  from: number,
  to: number,
  build: (n: number) => User = seededUser,
): Promise<void> {
  const runner = app.get(TransactionRunner);
  for (let start = from; start < to; start += AT_ONCE) {
    const count = Math.min(AT_ONCE, to - start);
    const users = Array.from({ length: count }, (_, index) => build(start + index));
    await runner.run((tx) => insertUsers(tx, users));
  }
  await app.get(UserCounts).mergeAllRows(); // as the service does soon after a change
  agent.destroy(); // on SQLite no timer ran meanwhile, and the service is about to close idle connections
}

/** Updates the statistics of MariaDB, which the server would update later. The service uses no statistics on SQLite. */
export async function refreshStatistics({ app }: TestApp): Promise<void> {
  const database = app.get<Database>(DATABASE);
  if (database.dialect === 'sqlite') return;
  const tables = await database.query<{ name: string }>(
    'SELECT table_name AS name FROM information_schema.tables WHERE table_schema = DATABASE()',
  );
  await database.query(`ANALYZE TABLE ${tables.map(({ name }) => name).join(', ')}`);
}

/** Waits until MariaDB has purged deleted rows. Until then its optimizer counts them. */
export async function waitForPurge({ app }: TestApp): Promise<void> {
  const database = app.get<Database>(DATABASE);
  if (database.dialect === 'mysql') await database.query('SET GLOBAL innodb_max_purge_lag_wait = 0');
}
