import { expect, test } from '@jest/globals';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Finding } from '../../src/operations/doctor/finding.js';
import { TestApp } from '../support/app/app.js';
import { runCommand } from '../support/process/command.js';
import { Process, envOf, setUpDatabase } from '../support/process/process.js';

/** The findings of `rollcall doctor --security`. */
const database = setUpDatabase();

const SECRET = 'Zk3vQ8wXr1tYb6nM-pL9sHd4GfJc2aUe7';

const examine = async (settings: Record<string, string> = {}) => {
  const args = ['doctor', '--security', '--json'];
  const { out, code } = await runCommand(database, args, settings, database.folder);
  return { findings: JSON.parse(out) as Finding[], code, out };
};
const levelsOf = (findings: Finding[], subject: string) =>
  findings.filter((finding) => finding.subject === subject).map(({ level }) => level);

test('doctor --security reports on every security topic', async () => {
  await (await TestApp.startOn(database)).stop();
  const { findings, code, out } = await examine({ METRICS_TOKEN: SECRET, BOOTSTRAP_API_KEY: SECRET });
  expect(new Set(findings.map(({ subject }) => subject))).toEqual(
    new Set([
      ...['node', 'https', 'cookie', 'secrets', 'database tls', 'proxy', 'metrics', 'audit', 'data folder'],
      ...['database file', 'drop folder', 'api keys'],
    ]),
  );
  expect(code).toBe(findings.some(({ level }) => level === 'fail') ? 1 : 0);
  expect(levelsOf(findings, 'api keys')).toEqual(['warn', 'warn']); // the first key never expires and has all scopes
  expect(out).not.toContain(SECRET);
  const { out: table } = await runCommand(database, ['doctor', '--security'], { BOOTSTRAP_API_KEY: SECRET });
  expect(table.trimEnd().split('\n')).toHaveLength(findings.length);
  expect(table).toMatch(/^warn {2}api keys {8}1 of 1 never expire/m);
});

test('doctor --security reports files that other users can read as failures', async () => {
  const data = join(database.folder, 'data');
  const service = await Process.startService({ ...envOf(database), DATA_DIR: data });
  const settings = { DATABASE_URL: '', DATA_DIR: data };
  const kept = await examine(settings);
  expect(levelsOf(kept.findings, 'data folder')).toEqual(['ok']);
  expect(levelsOf(kept.findings, 'database file')).toEqual(['ok', 'ok', 'ok']);
  await service.stop();
  chmodSync(join(data, 'rollcall.sqlite'), 0o644);
  chmodSync(data, 0o755);
  writeFileSync(join(database.folder, '.env'), 'METRICS_TOKEN=Zk3vQ8wXr1tYb6nM\n', { mode: 0o640 });
  const wide = await examine(settings);
  expect(levelsOf(wide.findings, 'data folder')).toEqual(['fail']);
  expect(levelsOf(wide.findings, 'database file')[0]).toBe('fail');
  expect(levelsOf(wide.findings, '.env')).toEqual(['fail']);
  expect([wide.code, wide.out.includes('Zk3vQ8wXr1tYb6nM')]).toEqual([1, false]);
});

test('doctor --security reports a drop folder that other users can write to', async () => {
  const [drop, work] = [join(database.folder, 'drop'), join(database.folder, 'work')];
  mkdirSync(drop);
  mkdirSync(work);
  const findLevels = async (rights: [number, number], settings: Record<string, string>) => {
    chmodSync(drop, rights[0]);
    chmodSync(work, rights[1]);
    return levelsOf((await examine({ IMPORT_FOLDER: drop, ...settings })).findings, 'drop folder');
  };
  expect(await findLevels([0o755, 0o755], {})).toEqual(['ok']);
  expect(await findLevels([0o777, 0o755], {})).toEqual(['fail']);
  expect(await findLevels([0o775, 0o755], {})).toEqual(['warn']);
  expect(await findLevels([0o775, 0o755], { IMPORT_WORK_FOLDER: work })).toEqual(['ok']);
  expect(await findLevels([0o775, 0o775], { IMPORT_WORK_FOLDER: work })).toEqual(['fail']);
  expect(await findLevels([0o755, 0o755], { IMPORT_FOLDER: join(drop, 'nowhere') })).toEqual(['fail']);
});
