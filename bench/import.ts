import 'reflect-metadata';
import libsql from 'libsql';
import { createReadStream, createWriteStream, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createConnection } from 'mysql2/promise';
import { sampleLines } from '../samples/generate.js';
import { createApp } from '../src/app.setup.js';
import { readInput } from '../src/common/input.js';
import { CLI_CALLER } from '../src/cli/service.js';
import { loadEnv } from '../src/config/env.js';
import { CsvReader } from '../src/import/file/csv-reader.js';
import { ImportStore } from '../src/import/file/import-store.js';
import { ImportOptions } from '../src/import/import.options.js';
import { ImportsService } from '../src/import/imports.service.js';
import { RunEvents } from '../src/import/report/run-events.js';
import { USER_COLUMNS } from '../src/users/user.model.js';

/**
 * `npm run bench:import [-- ROWS [ROUNDS]]`: imports of a sample file beside what they cannot do without, in rows a
 * second: its records parsed; parsed, and the users read by key, a thousand at a time; the rows of the same five tables
 * loaded into empty ones with the same indexes. On temporary SQLite files, or on new databases of the MariaDB of
 * DATABASE_URL, which are dropped. Floors and imports take turns in each round.
 */
const rows = Number(process.argv[2] ?? 100_000);
const rounds = Number(process.argv[3] ?? 2);
const server = process.env['DATABASE_URL'];
const TABLES = ['users', 'user_identifiers', 'user_roles', 'user_words', 'audit_events'];
/** Users of a look-up, and of a transaction of the bulk load. */
const CHUNK = 1000;

type Row = Record<string, string | number | null>;

/** A database without the service before it. */
interface Raw {
  query(sql: string, values?: readonly unknown[]): Promise<Row[]>;
  /** An empty table of the same form. */
  copy(table: string, name: string): Promise<void>;
  /** Rows of several tables in one transaction, each in the way that is fast there. */
  load(tables: ReadonlyMap<string, readonly Row[]>): Promise<void>;
  end(): Promise<void>;
}

function sqlite(file: string): Raw {
  const db = new libsql(file);
  db.exec(
    'PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -16384; PRAGMA wal_autocheckpoint = 8192',
  );
  const all = (sql: string, values: readonly unknown[] = []): Row[] => db.prepare(sql).all(values) as Row[];
  return {
    query: (sql, values) => Promise.resolve(all(sql, values)),
    copy: async (table, name) => {
      const made = all('SELECT name, sql FROM sqlite_master WHERE tbl_name = ? AND sql IS NOT NULL', [table]);
      for (const { sql } of made) {
        db.exec(String(sql).replaceAll(`"${table}"`, `"${name}"`).replace('"ix_', '"floor_ix_'));
      }
      return Promise.resolve();
    },
    load: async (tables) => {
      db.exec('BEGIN IMMEDIATE');
      for (const [table, list] of tables) {
        const columns = Object.keys(list[0] ?? {});
        const statement = db.prepare(
          `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`,
        );
        for (const row of list) statement.run(Object.values(row));
      }
      db.exec('COMMIT');
      return Promise.resolve();
    },
    end: async () => {
      db.close();
    },
  };
}

async function mariadb(url: string): Promise<Raw> {
  const db = await createConnection({ uri: url.replace(/^mariadb:/, 'mysql:'), dateStrings: true });
  return {
    query: async (sql, values = []) => (await db.query(sql, [...values]))[0] as Row[],
    copy: async (table, name) => {
      await db.query(`CREATE TABLE ${name} LIKE ${table}`);
    },
    load: async (tables) => {
      await db.beginTransaction();
      for (const [table, list] of tables) {
        const columns = Object.keys(list[0] ?? {}).join(', ');
        await db.query(`INSERT INTO ${table} (${columns}) VALUES ?`, [list.map((row) => Object.values(row))]);
      }
      await db.commit();
    },
    end: () => db.end(),
  };
}

const list = (values: readonly unknown[]): string => values.map(() => '?').join(', ');

/** What an import has written, read back and loaded into empty tables beside; the reading is not counted. */
async function bulkLoad(raw: Raw): Promise<Cost> {
  for (const table of TABLES) await raw.copy(table, `floor_${table}`);
  const users = await raw.query("SELECT uuid FROM users WHERE external_id <> '' ORDER BY external_id_key");
  let millis = 0;
  let cpu = 0;
  for (let from = 0; from < users.length; from += CHUNK) {
    const uuids = users.slice(from, from + CHUNK).map(({ uuid }) => uuid);
    const tables = new Map<string, Row[]>();
    for (const table of TABLES) {
      const key = { users: 'uuid', audit_events: 'target_id' }[table] ?? 'user_uuid';
      tables.set(
        `floor_${table}`,
        table === 'user_identifiers'
          ? await identifiers(raw, uuids)
          : await raw.query(`SELECT * FROM ${table} WHERE ${key} IN (${list(uuids)})`, uuids),
      );
    }
    const before = process.cpuUsage();
    const started = performance.now();
    await raw.load(tables);
    millis += performance.now() - started;
    const used = process.cpuUsage(before);
    cpu += used.user + used.system;
  }
  return [(users.length / millis) * 1000, cpu / users.length];
}

/** What the writer keeps of users that log in by name, address or one authname. */
async function identifiers(raw: Raw, uuids: readonly unknown[]): Promise<Row[]> {
  const users = await raw.query(
    `SELECT uuid, username_key, email_key, external_id_key, authname FROM users WHERE uuid IN (${list(uuids)})`,
    uuids,
  );
  return users.flatMap((user) =>
    [
      `login:${user['username_key']}`,
      `login:${user['email_key']}`,
      `external_id:${user['external_id_key']}`,
      `authname:saml:${user['authname']}`,
    ].map((identifier) => ({ identifier, user_uuid: user['uuid'] ?? null })),
  );
}

/** Rows a second of the clock, and the processor's microseconds a row in this process: what a busy machine leaves alone. */
type Cost = readonly [rate: number, cpu: number];

async function measured(work: () => Promise<void>): Promise<Cost> {
  const before = process.cpuUsage();
  const started = performance.now();
  await work();
  const seconds = (performance.now() - started) / 1000;
  const { user, system } = process.cpuUsage(before);
  return [rows / seconds, (user + system) / rows];
}

async function parse(file: string, batch: (keys: string[]) => Promise<unknown>): Promise<Cost> {
  return measured(async () => {
    const reader = new CsvReader(createReadStream(file), { delimiter: ',', knownColumn: () => true });
    await reader.header();
    for await (const records of reader.records(CHUNK))
      await batch(records.map(({ cells }) => cells[0] ?? ''));
  });
}

async function round(files: { first: string; changed: string }): Promise<Map<string, Cost>> {
  const folder = mkdtempSync(join(tmpdir(), 'rollcall-bench-'));
  const name = `rollcall_bench_${Date.now().toString(36)}`;
  let url = `sqlite:${join(folder, 'bench.sqlite')}`;
  const admin = server === undefined ? undefined : await mariadb(server);
  if (server !== undefined) {
    await admin?.query(`CREATE DATABASE ${name} CHARACTER SET utf8mb4`);
    url = Object.assign(new URL(server), { pathname: `/${name}` }).href;
  }
  const app = await createApp(
    loadEnv({
      ...process.env,
      DATABASE_URL: url,
      DATA_DIR: folder,
      MIGRATE_ON_START: 'true',
      LOG_LEVEL: 'silent',
    }),
  );
  await app.init();
  const raw = server === undefined ? sqlite(url.slice('sqlite:'.length)) : await mariadb(url);

  const importFile = (file: string): Promise<Cost> =>
    measured(async () => {
      const options = readInput(ImportOptions, {}).value;
      const stored = await app.get(ImportStore).store('bench.csv', createReadStream(file));
      const { id } = await app.get(ImportsService).start(stored, options, CLI_CALLER);
      let state = '';
      for await (const run of app.get(RunEvents).watch(id)) state = run.state;
      if (state !== 'completed') throw new Error(`the import is ${state}`);
    });
  const keyed = (keys: string[]) =>
    raw.query(`SELECT ${USER_COLUMNS.join(', ')} FROM users WHERE external_id_key IN (${list(keys)})`, keys);

  const found = new Map<string, Cost>();
  try {
    found.set('created', await importFile(files.first));
    found.set('bulk load of the same tables', await bulkLoad(raw));
    for (const turn of [1, 2]) {
      found.set(`parsing alone, ${turn}`, await parse(files.first, () => Promise.resolve()));
      found.set(`parsing and a keyed read, ${turn}`, await parse(files.first, keyed));
      found.set(`unchanged, ${turn}`, await importFile(files.first));
    }
    found.set('1 % changed', await importFile(files.changed));
  } finally {
    await raw.end();
    await app.close();
    await admin?.query(`DROP DATABASE ${name}`);
    await admin?.end();
    rmSync(folder, { recursive: true, force: true });
  }
  return found;
}

const folder = mkdtempSync(join(tmpdir(), 'rollcall-bench-files-'));
try {
  const files = { first: join(folder, 'first.csv'), changed: join(folder, 'changed.csv') };
  for (const [file, changed] of [
    [files.first, 0],
    [files.changed, 1],
  ] as const) {
    await pipeline(Readable.from(sampleLines({ rows, seed: 1, changed })), createWriteStream(file));
  }
  for (let turn = 1; turn <= rounds; turn++) {
    process.stdout.write(`round ${turn}, ${rows} rows\n`);
    for (const [name, [rate, cpu]] of await round(files)) {
      process.stdout.write(
        `  ${name.padEnd(32)}${String(Math.round(rate)).padStart(8)} rows/s${cpu.toFixed(0).padStart(8)} µs CPU a row\n`,
      );
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
