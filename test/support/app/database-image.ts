import type { Database } from '../../../src/platform/database/engine/database.js';

/** What the database keeps of users and imports: rows as texts, in an order of their own, by table. */
export type DatabaseImage = Readonly<Record<string, readonly string[]>>;

/** Columns that differ from one run of a test to the next. */
const VOLATILE: Readonly<Record<string, readonly string[]>> = {
  users: ['created', 'updated', 'last_access', 'password_hash'],
  import_runs: [
    'created',
    'started',
    'finished',
    'alerted',
    'phase_started',
    'phase_percent',
    'plan_hash',
    'request_id',
  ],
  audit_events: ['id', 'time', 'request_id'],
  import_profiles: ['created', 'updated'],
  key_deactivations: ['time'],
};
const TABLES = ['users', 'user_identifiers', 'user_roles', 'user_words', 'import_runs', 'import_rows'].concat(
  'import_file_parts',
  'import_profiles',
  'audit_events',
  'audit_runs',
  'key_deactivations',
);
/** Audit events of other targets tell of starts of the service. */
const TARGETS = ['user', 'import', 'import_profile'];
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;

type Row = Record<string, unknown>;

/** All that a kill must not change; uuids are replaced by the names of what they name. */
export async function imageOf(database: Database): Promise<DatabaseImage> {
  const names = await namesOf(database);
  const named = (text: string): string => text.replace(UUID, (uuid) => names.get(uuid) ?? 'a uuid');
  const image: Record<string, readonly string[]> = {};
  for (const table of TABLES) {
    const rows = await database.query<Row>(`SELECT * FROM ${table}`);
    const kept = rows.filter(
      ({ target_kind: kind }) => kind === undefined || (typeof kind === 'string' && TARGETS.includes(kind)),
    );
    const stable = kept.map((row) => without(row, table));
    image[table] = stable.map((row) => named(JSON.stringify(row))).sort();
  }
  image['sums of user_counts'] = await sumsOf(database);
  return image;
}

/** The first rows by which two images differ, by table: none, for equal ones. */
export function differences(expected: DatabaseImage, actual: DatabaseImage): Record<string, unknown> {
  const found: Record<string, unknown> = {};
  for (const table of Object.keys(expected)) {
    const [lacks, has] = [minus(expected[table], actual[table]), minus(actual[table], expected[table])];
    if (lacks.length + has.length > 0)
      found[table] = { lacks: lacks.length, has: has.length, such: [lacks.slice(0, 3), has.slice(0, 3)] };
  }
  return found;
}

/** The rows that are left of one list without those of another, each as often as it is there. */
function minus(rows: readonly string[] = [], others: readonly string[] = []): string[] {
  const counts = new Map<string, number>();
  for (const row of others) counts.set(row, (counts.get(row) ?? 0) + 1);
  return rows.filter((row) => {
    const left = counts.get(row) ?? 0;
    if (left > 0) counts.set(row, left - 1);
    return left === 0;
  });
}

async function namesOf(database: Database): Promise<Map<string, string>> {
  const users = await database.query<{ uuid: string; username: string }>('SELECT uuid, username FROM users');
  const runs = await database.query<{ id: string }>('SELECT id FROM import_runs ORDER BY id');
  return new Map([
    ...users.map(({ uuid, username }): [string, string] => [uuid, `the user ${username}`]),
    ...runs.map(({ id }, index): [string, string] => [id, `the run ${index + 1}`]),
  ]);
}

/** A run that was refused has come as far as its plan, in steps that a kill repeats. */
function without(row: Row, table: string): Row {
  const progress = table === 'import_runs' && !String(row['state']).startsWith('completed');
  const left = [...(VOLATILE[table] ?? []), ...(progress ? ['percent', 'rows_done'] : [])];
  return Object.fromEntries(Object.entries(row).filter(([name]) => !left.includes(name)));
}

async function sumsOf(database: Database): Promise<string[]> {
  const rows = await database.query<{ name: string; sum: number | string }>(
    'SELECT name, SUM(value) AS sum FROM user_counts GROUP BY name',
  );
  return rows.map(({ name, sum }) => `${name}: ${Number(sum)}`).sort();
}
