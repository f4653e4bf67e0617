import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { TestApp } from '../support/app/app.js';
import { RequestRecorder } from '../support/app/request-recorder.js';
import { ENGINE, createDatabase } from '../support/app/database.js';
import { aPerson, databaseOf } from '../support/app/people.js';
import { explainStatements } from '../support/app/plans.js';
import { StatementRecorder, type Statement, formOf } from '../support/app/recorder.js';
import * as scenario from '../support/app/scenario.js';
import { exerciseGroups } from '../support/app/scenario-groups.js';
import { exerciseScim } from '../support/app/scenario-scim.js';
import { exerciseImports } from '../support/app/scenario-imports.js';
import { refreshStatistics, waitForPurge, seedUsers, seededUuid } from '../support/app/seed.js';
import { seedHistory } from '../support/app/seed-history.js';
import { findSourceSql } from '../support/data/source-sql.js';

/**
 * Checks the plan of every statement that the service runs: no statement may read a large table needlessly. A full
 * scan or a sort of a large set reads more rows than `MOST`.
 */
const USERS = 13_000;
const HISTORY = 3000;
const MOST = { sqlite: 10_000, mariadb: 1000 }[ENGINE];
const PILOTS = 1000;

/** Tables with few rows, and the list of values of a statement. */
const SMALL = new Set([
  'json_each',
  'user_counts',
  'user_rules',
  'leases',
  'installation',
  'api_keys',
  'key_fuses',
  'import_runs',
]);

/** Statements that may read many rows, each with the reason. */
const WALKS: [RegExp, string][] = [
  [/^UPDATE idempotent_requests SET created/, 'only the test runs it, to change times'],
  [
    /FROM users WHERE managed_by = \? .*LIMIT \?\) AS page/,
    'counts the users of a data set, 2,000 at a time',
  ],
  [
    /SELECT u\.uuid, NULL AS page_key FROM users u (?!.*(JSON_EXTRACT|u\.uuid IN \(\?))/,
    'the export reads all users by their key',
  ],
  [/SELECT DISTINCT target_id AS run_id FROM audit_events/, 'one look-up for each import'],
  [
    /^SELECT COUNT\(\*\) AS n FROM \(SELECT 1 FROM .* LIMIT 10000\) AS part/,
    'counts at most 10,000 matches of each condition of a broad search',
  ],
  [/FROM import_profiles$|FROM import_profiles ORDER BY name$/, 'reads all profiles, at most 200'],
  [/^SELECT COUNT\(\*\) AS n FROM user_groups u/, 'an exact count reads its matches'],
  [/^SELECT COUNT\(\*\) AS n FROM \(SELECT .* AS c JOIN users u/, 'an exact count reads its matches'],
  [/FROM user_groups u WHERE .*u\.external_id IS /, 'groups without an external id are sorted by uuid'],
  [/COUNT\(\*\) AS count FROM group_members/, 'an exact count reads its matches: members of one group'],
  [
    /^SELECT user_uuid FROM group_members WHERE group_uuid = \? AND user_uuid > \?/,
    'the members of a group are read by their key, up to 5,000 at a time',
  ],
  [/COUNT\(\*\) AS n FROM sessions/, 'an exact count reads its matches: open sessions'],
  [/COUNT\(\*\) AS count FROM import_rows/, 'an exact count reads its matches: rows of one import'],
];
/** Sources of statements that only SQLite runs: lists with `json_each`, and the first statement of the read worker. */
const ON_SQLITE_ONLY = /^(platform\/database\/engine\/sql|users\/search\/search-budget\.service)\.ts/;
/** Statements that may read many rows for filters that most users match. */
const BROAD: [RegExp, string][] = [
  [/^SELECT COUNT\(\*\) AS n FROM users u/, 'an exact count reads its matches (interface §5)'],
  [/FROM user_words WHERE \(?word/, 'a word search reads its matches (interface §5)'],
  [/FROM user_values WHERE attribute = 'phone'/, 'a search by phone reads its matches (interface §5)'],
];

const recorder = new StatementRecorder();
let app: TestApp;
let driven: RequestRecorder;
beforeAll(async () => {
  const database = await createDatabase();
  app = await TestApp.startOn(database, {
    AUDIT_RETENTION_DAYS: '30',
    IMPORT_OVERDUE_HOURS: '1',
    IMPORT_FOLDER: database.folder,
  });
  driven = new RequestRecorder(app);
  // Statistics before the first seal, which the service creates after a minute.
  await scenario.check(app.key.get('/statistics?days=1'));
  await seedUsers(app, 0, USERS);
  await seedHistory(app, HISTORY);
  await refreshStatistics(app);
});
afterAll(() => app.end());

/** Finds the faults in the plans of all statements since the last call. */
async function findFaults(allowed: readonly [RegExp, string][], most = MOST): Promise<string[]> {
  const found: string[] = [];
  recorder.isEnabled = false;
  await waitForPurge(app);
  const isAllowed = ({ sql }: Statement): boolean => allowed.some(([pattern]) => pattern.test(formOf(sql)));
  const planned = recorder.take().filter((statement) => isPlanned(statement) && !isAllowed(statement));
  for await (const [statement, { scans, effort, text }] of explainStatements(app, planned)) {
    const form = formOf(statement.sql);
    const large = scans.filter((table) => !SMALL.has(table));
    const about = `${form} ${JSON.stringify(statement.params.slice(0, 20))}\n${text}`;
    if (large.length > 0) found.push(`reads all of ${large.join()}: ${about}`);
    if (effort > most) found.push(`reads ${effort} rows: ${about}`);
  }
  recorder.isEnabled = true;
  return found;
}

/** Returns false for statements without a plan, such as an INSERT of rows, and for the check of privileges. */
const isPlanned = ({ sql }: Statement): boolean =>
  !/^(INSERT|PRAGMA|ANALYZE|USE)\b|information_schema|WHERE FALSE$/.test(sql);

test('a search with few matches reads few rows in every order', async () => {
  recorder.take();
  await scenario.searchAll(app.key, [{}, ...scenario.NARROW]);
  expect(await findFaults([])).toEqual([]);
});

test('a search with many matches reads only one page of rows', async () => {
  await scenario.searchAll(app.key, scenario.BROAD, ['updated', 'surname', 'external_id', 'relevance']);
  expect(await findFaults(BROAD)).toEqual([]);
});

test('a search by a member reads only one page of rows', async () => {
  const { client } = await aPerson(app);
  await scenario.searchAll(client, scenario.FOR_MEMBERS, ['updated', 'surname', 'username']);
  expect(await findFaults(BROAD)).toEqual([]);
});

test('a search finds matches late in the order without reading all rows', async () => {
  const pilots = ['pilot', seededUuid(PILOTS)];
  await databaseOf(app).execute('UPDATE users SET managed_by = ? WHERE uuid < ?', pilots);
  await refreshStatistics(app);
  recorder.take();
  await scenario.searchAll(app.key, [{ managed_by: 'pilot' }]);
  expect(await findFaults([], 5 * MOST)).toEqual([]);
});

test.each([
  ['users', scenario.exerciseUser],
  ['groups', exerciseGroups],
  ['SCIM users', exerciseScim],
  ['broad searches', scenario.findBroadestFilter],
  ['logins and sessions', scenario.exerciseSessions],
  ['API keys, audit and metrics', scenario.exerciseReads],
  ['imports and exports', exerciseImports],
  ['purges', scenario.purge],
  ['audit seals', scenario.sealAudit],
])('the SQL statements for %s read only the necessary rows', async (_, live) => {
  await live(app);
  expect(await findFaults(WALKS)).toEqual([]);
});

test('the query plan tests cover every SQL statement in src', () => {
  const { texts } = recorder;
  // Excludes migrations, commands, and statements that read the state of the server instead of a table.
  const known = findSourceSql([
    'platform/database/migrat',
    'platform/database/mysql/session.ts',
    'platform/database/mysql/privileges.ts',
    'platform/database/engine/write-probe.ts',
    'platform/database/mysql/mysql-statement.ts',
    'platform/database/engine/backup-connections.ts',
    'platform/database/sqlite/sqlite-connection.ts',
    'platform/database/engine/database.ts',
    'operations/backup',
    'operations/doctor',
    'cli',
  ]);
  expect(known.length).toBeGreaterThan(70);
  const missing = known
    .filter(({ position }) => ENGINE === 'sqlite' || !ON_SQLITE_ONLY.test(position))
    .filter(({ pattern }) => !texts.some((text) => pattern.test(text)));
  expect(missing.map(({ position }) => position)).toEqual([]);
  expect(driven.missing).toEqual([]);
  const forms = texts.map(formOf);
  const unused = [...WALKS, ...BROAD].filter(([pattern]) => !forms.some((form) => pattern.test(form)));
  expect(unused).toEqual([]);
});
