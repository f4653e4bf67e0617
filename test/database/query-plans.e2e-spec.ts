import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { TestApp } from '../support/app/app.js';
import { Driven } from '../support/app/driven.js';
import { ENGINE, freshDatabase } from '../support/app/database.js';
import { aPerson, databaseOf } from '../support/app/people.js';
import { plansOf } from '../support/app/plans.js';
import { Recorder, type Statement, formOf } from '../support/app/recorder.js';
import * as scenario from '../support/app/scenario.js';
import { liveInGroups } from '../support/app/scenario-groups.js';
import { liveInScim } from '../support/app/scenario-scim.js';
import { importEverything } from '../support/app/scenario-imports.js';
import { refreshStatistics, removeDeleted, seedUsers, seededUuid } from '../support/app/seed.js';
import { seedHistory } from '../support/app/seed-history.js';
import { sourceSql } from '../support/data/source-sql.js';

/**
 * The plan of every statement of the service, recorded while it works: on large tables none reads what it does not
 * need. A full scan or a sort of a large set reads more rows than `MOST`, whatever the plan calls it.
 */
const USERS = 13_000;
const HISTORY = 3000;
const MOST = { sqlite: 10_000, mariadb: 1000 }[ENGINE];
const PILOTS = 1000;

/** Tables with a handful of rows, and a list of values that a statement names. */
const SMALL = new Set([
  'json_each',
  'user_counts',
  'user_rules',
  'leases',
  'api_keys',
  'key_fuses',
  'import_runs',
]);

/** Statements that may read many rows, and why. */
const WALKS: [RegExp, string][] = [
  [/^UPDATE idempotent_requests SET created/, 'the test lets time go by'],
  [
    /FROM users WHERE managed_by = \? .*LIMIT \?\) AS page/,
    'the users of a data set are counted, 2,000 at a time',
  ],
  [/FROM users WHERE uuid > \? .*LIMIT \?$/, 'the export goes through all users by their key, 500 at a time'],
  [/FROM \(SELECT DISTINCT run_id FROM audit_runs/, 'a look-up for each import of a person'],
  [
    /^SELECT COUNT\(\*\) AS n FROM \(SELECT 1 FROM .* LIMIT 10000\) AS part/,
    'what is too broad: 10,000 matches of each part',
  ],
  [
    /FROM import_profiles$|FROM import_profiles ORDER BY name$/,
    'all profiles, of which there are at most 200',
  ],
  [/^SELECT COUNT\(\*\) AS n FROM user_groups u/, 'an exact number costs its matches'],
  [/^SELECT COUNT\(\*\) AS n FROM \(SELECT .* AS c JOIN users u/, 'an exact number costs its matches'],
  [/FROM user_groups u WHERE .*u\.external_id IS /, 'groups without an external id are sorted by uuid'],
  [/COUNT\(\*\) AS count FROM group_members/, 'an exact number costs its matches: members of one group'],
  [
    /^SELECT user_uuid FROM group_members WHERE group_uuid = \? AND user_uuid > \?/,
    'the members of a group are read by their key, up to 5,000 at a time',
  ],
  [/COUNT\(\*\) AS count FROM sessions/, 'an exact number costs its matches: sessions that live'],
  [/COUNT\(\*\) AS count FROM import_rows/, 'an exact number costs its matches: rows of one import'],
];
/** Lists by `json_each`, and the first statement of the reader process. */
const ON_SQLITE_ONLY = /^(platform\/database\/engine\/sql|users\/search\/search-budget\.service)\.ts/;
/** For filters that most users match. */
const BROAD: [RegExp, string][] = [
  [/^SELECT COUNT\(\*\) AS n FROM users u/, 'an exact number costs its matches (interface §5)'],
  [/FROM user_words WHERE word/, 'words cost their matches (interface §5)'],
];

jest.setTimeout(120_000);
const recorder = new Recorder();
let app: TestApp;
let driven: Driven;
beforeAll(async () => {
  const database = await freshDatabase();
  app = await TestApp.on(database, {
    AUDIT_RETENTION_DAYS: '30',
    IMPORT_OVERDUE_HOURS: '1',
    IMPORT_FOLDER: database.folder,
  });
  driven = new Driven(app);
  // Numbers without a seal: the service makes the first one after a minute.
  await scenario.ok(app.key.get('/statistics?days=1'));
  await seedUsers(app, 0, USERS);
  await seedHistory(app, HISTORY);
  await refreshStatistics(app);
});
afterAll(() => app.end());

/** The faults in the plans of all statements since the last call. */
async function faults(allowed: readonly [RegExp, string][], most = MOST): Promise<string[]> {
  const found: string[] = [];
  recorder.listens = false;
  await removeDeleted(app);
  const isAllowed = ({ sql }: Statement): boolean => allowed.some(([pattern]) => pattern.test(formOf(sql)));
  const asked = recorder.take().filter((statement) => isPlanned(statement) && !isAllowed(statement));
  for await (const [statement, { scans, effort, text }] of plansOf(app, asked)) {
    const form = formOf(statement.sql);
    const large = scans.filter((table) => !SMALL.has(table));
    const about = `${form} ${JSON.stringify(statement.params.slice(0, 20))}\n${text}`;
    if (large.length > 0) found.push(`reads all of ${large.join()}: ${about}`);
    if (effort > most) found.push(`looks at ${effort}: ${about}`);
  }
  recorder.listens = true;
  return found;
}

/** An INSERT of rows has no plan. */
const isPlanned = ({ sql }: Statement): boolean => !/^(INSERT|PRAGMA|ANALYZE)/.test(sql);

test('a search that finds few users reads few, in every order', async () => {
  recorder.take();
  await scenario.searchAll(app.key, [{}, ...scenario.NARROW]);
  expect(await faults([])).toEqual([]);
});

test('a search that finds most users reads a page in its order', async () => {
  await scenario.searchAll(app.key, scenario.BROAD, ['updated', 'surname', 'external_id', 'relevance']);
  expect(await faults(BROAD)).toEqual([]);
});

test('the same holds for readers who see active users only', async () => {
  const { client } = await aPerson(app);
  await scenario.searchAll(client, scenario.FOR_MEMBERS, ['updated', 'surname', 'username']);
  expect(await faults(BROAD)).toEqual([]);
});

test('matches at the far end of an order are looked up directly', async () => {
  const pilots = ['pilot', seededUuid(PILOTS)];
  await databaseOf(app).execute('UPDATE users SET managed_by = ? WHERE uuid < ?', pilots);
  await refreshStatistics(app);
  recorder.take();
  await scenario.searchAll(app.key, [{ managed_by: 'pilot' }]);
  expect(await faults([], 5 * MOST)).toEqual([]);
});

test.each([
  ['users', scenario.liveThrough],
  ['groups', liveInGroups],
  ['users of SCIM', liveInScim],
  ['searches that are too broad', scenario.nameTheBroadest],
  ['logins and sessions', scenario.comeAndGo],
  ['keys, audit and metrics', scenario.lookAround],
  ['imports and exports', importEverything],
  ['what is purged', scenario.purge],
  ['seals of the audit', scenario.seal],
])('%s', async (_, live) => {
  await live(app);
  expect(await faults(WALKS)).toEqual([]);
});

test('nothing was left out: every statement of the sources, every operation of the OpenAPI file', () => {
  const { texts } = recorder;
  // Migrations run before the service starts, commands run outside it, and the state or version of a server is no table.
  const known = sourceSql([
    'platform/database/migrat',
    'platform/database/mysql/session.ts',
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
    .filter(({ place }) => ENGINE === 'sqlite' || !ON_SQLITE_ONLY.test(place))
    .filter(({ pattern }) => !texts.some((text) => pattern.test(text)));
  expect(missing.map(({ place }) => place)).toEqual([]);
  expect(driven.missing).toEqual([]);
  const forms = texts.map(formOf);
  const unused = [...WALKS, ...BROAD].filter(([pattern]) => !forms.some((form) => pattern.test(form)));
  expect(unused).toEqual([]);
});
