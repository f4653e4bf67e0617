import type { Database } from '../../../src/platform/database/engine/database.js';

/** The stored users and imports: the rows of each table as sorted JSON texts. */
export type DatabaseImage = Readonly<Record<string, readonly string[]>>;

/** Columns whose values differ between two runs of a test. */
const VOLATILE: Readonly<Record<string, readonly string[]>> = {
  users: ['created', 'updated', 'last_access', 'password_hash'],
  import_runs: 'created started finished alerted phase_started phase_percent plan_hash request_id'.split(' '),
  audit_events: ['id', 'time', 'request_id'],
  import_profiles: ['created', 'updated'],
  key_deactivations: ['time'],
};
const TABLES =
  `users user_identifiers user_roles user_words import_runs import_rows import_file_parts import_profiles
  audit_events key_deactivations`.split(/\s+/);
/** Targets of the audit events in an image. Events of other targets are about starts of the service. */
const TARGETS = ['user', 'import', 'import_profile'];
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;

type Row = Record<string, unknown>;

/** Reads everything that a killed process must not change. UUIDs are replaced by the names of users and runs. */
export async function readImage(database: Database): Promise<DatabaseImage> {
  const names = await readNames(database);
  const replaceUuids = (text: string): string => text.replace(UUID, (uuid) => names.get(uuid) ?? 'a uuid');
  const image: Record<string, readonly string[]> = {};
  for (const table of TABLES) {
    const rows = await database.query<Row>(`SELECT * FROM ${table}`);
    const included = rows.filter(
      ({ target_kind: kind }) => kind === undefined || (typeof kind === 'string' && TARGETS.includes(kind)),
    );
    const stable = included.map((row) => removeVolatile(row, table));
    image[table] = stable.map((row) => replaceUuids(JSON.stringify(row))).sort();
  }
  image['sums of user_counts'] = await readSums(database);
  return image;
}

/** Returns the number and the first examples of differing rows, by table. Equal images give an empty object. */
export function compareImages(expected: DatabaseImage, actual: DatabaseImage): Record<string, unknown> {
  const found: Record<string, unknown> = {};
  for (const table of Object.keys(expected)) {
    const [missing, extra] = [
      subtractRows(expected[table], actual[table]),
      subtractRows(actual[table], expected[table]),
    ];
    if (missing.length + extra.length > 0)
      found[table] = {
        missing: missing.length,
        extra: extra.length,
        rows: [...missing.slice(0, 3), ...extra.slice(0, 3)],
      };
  }
  return found;
}

/** Removes the rows of a second list from a list. Each row is removed as often as it occurs in the second list. */
function subtractRows(rows: readonly string[] = [], others: readonly string[] = []): string[] {
  const counts = new Map<string, number>();
  for (const row of others) counts.set(row, (counts.get(row) ?? 0) + 1);
  return rows.filter((row) => {
    const left = counts.get(row) ?? 0;
    if (left > 0) counts.set(row, left - 1);
    return left === 0;
  });
}

async function readNames(database: Database): Promise<Map<string, string>> {
  const users = await database.query<{ uuid: string; username: string }>('SELECT uuid, username FROM users');
  const runs = await database.query<{ id: string }>('SELECT id FROM import_runs ORDER BY id');
  return new Map([
    ...users.map(({ uuid, username }): [string, string] => [uuid, `the user ${username}`]),
    ...runs.map(({ id }, index): [string, string] => [id, `the run ${index + 1}`]),
  ]);
}

/**
 * Removes volatile columns from a row. An unfinished run also loses its progress, because a restart repeats planning
 * steps.
 */
function removeVolatile(row: Row, table: string): Row {
  const isUnfinished = table === 'import_runs' && !String(row['state']).startsWith('completed');
  const volatile = [...(VOLATILE[table] ?? []), ...(isUnfinished ? ['percent', 'rows_done'] : [])];
  return Object.fromEntries(Object.entries(row).filter(([name]) => !volatile.includes(name)));
}

/** Reads the numbers of users. `word_changes` counts transactions, whose number depends on when a process is killed. */
async function readSums(database: Database): Promise<string[]> {
  const rows = await database.query<{ name: string; sum: number | string }>(
    "SELECT name, SUM(value) AS sum FROM user_counts WHERE name <> 'word_changes' GROUP BY name",
  );
  return rows.map(({ name, sum }) => `${name}: ${Number(sum)}`).sort();
}
