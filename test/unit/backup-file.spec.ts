import { expect, test } from '@jest/globals';
import { readFileSync, readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { BackupHeader } from '../../src/operations/backup/backup-format.js';
import { BackupReader, type BackupSchema } from '../../src/operations/backup/read-backup.js';
import { writeBackup } from '../../src/operations/backup/write-backup.js';
import { createDraftPath } from '../../src/platform/common/draft-file.js';
import type { Snapshot } from '../../src/platform/database/engine/backup-connections.js';
import type { SqlValue } from '../../src/platform/database/engine/sql.js';
import { setUpFolder } from '../support/data/folder.js';

const folder = setUpFolder();
const path = join(folder, 'b.gz');

const ROWS: Record<string, SqlValue[][]> = {
  people: [
    ['a', 1, null],
    ['"\\\n\r\t\u2028 😀 é é ”', -1.5, ''],
    ...Array.from({ length: 1203 }, (_, at): SqlValue[] => [`row ${at}`, at, null]),
  ],
  nothing: [],
  last: [['x']],
};
const SCHEMA: BackupSchema = {
  tables: [
    { name: 'people', columns: ['name', 'number', 'note'] },
    { name: 'nothing', columns: ['id'] },
    { name: 'last', columns: ['id'] },
  ],
  migrations: ['One', 'Two'],
};
const HEADER: BackupHeader = {
  rollcall_backup: 1,
  version: '1.2.3',
  created: '2026-01-01T00:00:00.000Z',
  engine: 'sqlite',
  migrations: SCHEMA.migrations,
  tables: SCHEMA.tables.map((table) => ({ ...table, rows: ROWS[table.name]?.length ?? 0 })),
};
const snapshotOf = (rows: typeof ROWS): Snapshot => ({
  dialect: 'sqlite',
  queryNumber: () => Promise.resolve(0),
  findDamage: () => Promise.resolve([]),
  streamRows: async function* ({ name }) {
    yield rows[name] ?? [];
  },
  [Symbol.asyncDispose]: () => Promise.resolve(),
});
const write = (header = HEADER, rows = ROWS) => writeBackup(path, header, snapshotOf(rows), () => undefined);

/** Reads all rows of the backup file. */
async function read(schema = SCHEMA): Promise<typeof ROWS> {
  await using backup = await BackupReader.open(path, schema);
  const found: typeof ROWS = { people: [], nothing: [], last: [] };
  for await (const { table, rows } of backup.readRows()) found[table.name]?.push(...rows);
  return found;
}

test('a backup returns all rows unchanged', async () => {
  await write();
  expect(await read()).toEqual(ROWS);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(readdirSync(folder)).toEqual(['b.gz']);
});

test('a backup is a gzip file of JSON lines with a checksum', async () => {
  await write();
  const lines = gunzipSync(readFileSync(path)).toString().trimEnd().split('\n');
  expect(JSON.parse(lines[0] ?? '')).toEqual(HEADER);
  expect(JSON.parse(lines.at(-1) ?? '')).toEqual({ sha256: expect.stringMatching(/^[0-9a-f]{64}$/) });
});

test('a backup is refused if a single byte has changed', async () => {
  await write();
  const good = readFileSync(path);
  const accepted: number[] = [];
  // Every byte of the beginning and the end, and every seventh byte between them.
  for (let at = 0; at < good.length; at += at < 100 || at > good.length - 100 ? 1 : 7) {
    const bad = Buffer.from(good);
    bad[at] = (bad[at] ?? 0) ^ (1 << (at % 8));
    writeFileSync(path, bad);
    if (
      await BackupReader.open(path, SCHEMA).then(
        (backup) => backup[Symbol.asyncDispose]().then(() => true),
        () => false,
      )
    )
      accepted.push(at);
  }
  expect(accepted).toEqual([]);
});

test('a truncated backup and a backup with trailing bytes are refused', async () => {
  await write();
  const good = readFileSync(path);
  const cuts = [0, 1, 10, 50, 100, 500, good.length - 200, good.length - 100, good.length - 1];
  for (const cut of cuts) {
    writeFileSync(path, good.subarray(0, cut));
    await expect(read()).rejects.toThrow(/is damaged or not a backup/);
  }
  writeFileSync(path, Buffer.concat([good, Buffer.from('x')]));
  await expect(read()).rejects.toThrow(/is damaged or not a backup/);
});

test.each([
  ['a newer format', { ...HEADER, rollcall_backup: 2 }, /newer release \(Rollcall 1\.2\.3\)/],
  ['different migrations', { ...HEADER, migrations: ['One'] }, /schema of Rollcall 1\.2\.3, which differs/],
  [
    'different columns',
    { ...HEADER, tables: HEADER.tables.map((table) => ({ ...table, columns: ['id'] })) },
    /schema of Rollcall 1\.2\.3, which differs/,
  ],
])('the error for a backup with %s names the release', async (_case, header, message) => {
  await write(header);
  await expect(read()).rejects.toThrow(message);
});

test.each([
  ['fewer rows than its header states', { ...ROWS, last: [] }],
  ['more rows than its header states', { ...ROWS, last: [['x'], ['y']] }],
  ['a row with more values than columns', { ...ROWS, last: [['x', 'y']] }],
])('a backup with %s is refused as damaged', async (_case, rows) => {
  await write(HEADER, rows);
  await expect(read()).rejects.toThrow(/is damaged or not a backup/);
});

test('a failed backup keeps the previous backup file', async () => {
  writeFileSync(path, 'before');
  const broken: Snapshot = {
    ...snapshotOf(ROWS),
    streamRows: async function* () {
      yield await Promise.reject(new Error('gone'));
    },
  };
  await expect(writeBackup(path, HEADER, broken, () => undefined)).rejects.toThrow('gone');
  expect([readdirSync(folder), readFileSync(path, 'utf8')]).toEqual([['b.gz'], 'before']);
});

/** A process id that no process has, because Linux assigns smaller ids. */
const ENDED = 2 ** 22 + 1;

test.each<[owner: string, pid: number, change: [RegExp, string], hours: number, isDeleted: boolean]>([
  ['an ended process is deleted', ENDED, [/^/, ''], 0, true],
  ['an earlier process with the same id is deleted', process.pid, [/^/, ''], 0, true],
  ['a running process is kept', process.ppid, [/^/, ''], 0, false],
  ['another machine is kept', ENDED, [/-\w{6}-/, '-000000-'], 0, false],
  ['another machine is deleted after two hours', ENDED, [/-\w{6}-/, '-000000-'], 2, true],
  ['another program is kept', ENDED, [/^\./, ''], 2, false],
])('in a backup folder, the temporary file of %s', async (_, pid, [before, after], hours, isDeleted) => {
  const name = basename(createDraftPath(folder)).replace(String(process.pid), String(pid));
  const left = join(folder, name.replace(before, after));
  writeFileSync(left, '');
  utimesSync(left, Date.now() / 1000 - hours * 3600, Date.now() / 1000 - hours * 3600);
  await write();
  expect(readdirSync(folder)).toHaveLength(isDeleted ? 1 : 2);
});
