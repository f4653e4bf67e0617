import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { type Server, createServer } from 'node:net';
import { join } from 'node:path';
import { ImportWorker } from '../../src/import/apply/import-worker.service.js';
import { DropFolder } from '../../src/import/schedule/drop-folder.js';
import { errorCodeOf } from '../../src/platform/common/errors.js';
import { Log } from '../../src/platform/telemetry/log.js';
import { TestDropFolder, ScheduleFixture, missTick } from '../support/app/drop-folder.js';
import { csv, findUser } from '../support/app/imports.js';
import { ODD_ENTRIES } from '../support/data/folder.js';
import { Process, envOf } from '../support/process/process.js';

/** Entries that a process with write access can put into the drop folder. They must not affect other files. */
const scheduled = new ScheduleFixture();
let drop: TestDropFolder;
let folder: string;
let secret: string;
let servers: Server[] = [];
beforeEach(() => {
  ({ drop } = scheduled);
  folder = scheduled.createFolder();
  secret = join(folder, 'secret.csv');
  writeFileSync(secret, csv('ExternalId,Username,Email', 'top,top-secret,top@example.org'));
  servers = [];
});
afterEach(async () => {
  jest.restoreAllMocks();
  await Process.killAll();
  for (const server of servers) server.close();
});

const ID = '01a1fc00-0000-7000-8000-00000000dead';

const KINDS: typeof ODD_ENTRIES = [
  ...ODD_ENTRIES,
  ['a socket', (path) => servers.push(createServer().listen(path))],
];
/** Returns the skipped files in the log, as `file: reason`. */
const getSkipped = (warnings: { mock: { calls: Parameters<Log['warn']>[] } }) =>
  warnings.mock.calls
    .filter(([message]) => message === 'file skipped')
    .map(([, { file, reason }]) => `${file}: ${reason}`);

test('an import schedule skips links, folders, pipes and sockets', async () => {
  const names = KINDS.map((_, i) => `a${i}.csv`);
  const entries = KINDS.map((_, i) => `${ID.replace('dead', `000${i}`)}~a.csv`);
  for (const [i, [, create]] of KINDS.entries()) {
    await create(join(drop.folder, names[i] ?? ''), secret);
    drop.markDone(names[i] ?? '');
    await create(join(drop.work, 'processing', entries[i] ?? ''), secret);
  }
  writeFileSync(join(drop.work, 'processing', '1~short.csv'), '');
  drop.addUser('b');
  const warnings = jest.spyOn(Log.prototype, 'warn');
  await scheduled.start();
  await scheduled.waitForFiles(1);
  expect(drop.list()).toEqual(expect.arrayContaining(names.flatMap((name) => [name, `${name}.done`])));
  expect(drop.list('processing')).toEqual([...entries, '1~short.csv']);
  expect((await scheduled.listRuns()).map((run) => run.file.name)).toEqual(['b.csv']);
  expect((await findUser(scheduled.app.key, 'b')).username).toBe('b');
  expect(getSkipped(warnings).sort()).toEqual([
    ...KINDS.map(([kind], i) => `${entries[i] ?? ''}: ${kind}`),
    '1~short.csv: not a file that this service stored',
    ...KINDS.map(([kind], i) => `${names[i] ?? ''}: ${kind}`),
  ]);
});

test('a named pipe in the drop folder does not block shutdown', async () => {
  const hidden = 'a\u202e.csv';
  for (const path of [hidden, `processing/${ID}~a.csv`]) execFileSync('mkfifo', [join(drop.folder, path)]);
  drop.markDone(hidden);
  drop.addUser('b');
  const service = await Process.startService({
    ...envOf(scheduled.app.database),
    DATABASE_URL: scheduled.app.database.url,
    IMPORT_FOLDER: drop.folder,
    IMPORT_CRON: '0 0 1 1 *',
  });
  await scheduled.waitForFiles(1);
  expect(service.out).toMatch(/"file":"a\ufffd\.csv".*"file skipped"/);
  expect(await service.stop()).toEqual({ code: 0, signal: null });
});

test('an import schedule takes no files if processing/ is a link', async () => {
  const elsewhere = join(folder, 'elsewhere');
  renameSync(join(drop.work, 'processing'), elsewhere);
  symlinkSync(elsewhere, join(drop.work, 'processing'));
  writeFileSync(join(elsewhere, `${ID}~a.csv`), csv('ExternalId,Username,Email', 'x,x,x@example.org'));
  drop.addUser('b');
  const warned = new Promise<unknown>((resolve) => {
    jest.spyOn(Log.prototype, 'warn').mockImplementation((message, fields) => {
      if (message === 'drop folder unusable') resolve(fields);
    });
  });
  await scheduled.start();
  expect(await warned).toEqual({ reason: 'processing is a link or a file, not a folder' });
  expect(drop.list()).toContain('b.csv');
  expect(await scheduled.listRuns()).toEqual([]);
});

test('an import schedule with IMPORT_WORK_FOLDER empties the drop folder', async () => {
  drop = scheduled.drop = new TestDropFolder(join(folder, 'incoming'), join(folder, 'work'));
  drop.addUser('b');
  drop.addFile('c.csv', 'c,,');
  drop.markDone('c.csv');
  writeFileSync(join(drop.folder, 'd.csv'), 'Nonsense\n1\n');
  drop.markDone('d.csv');
  await scheduled.start();
  await scheduled.waitForFiles(2, 1);
  expect({ drop: drop.list(), processing: drop.list('processing') }).toEqual({ drop: [], processing: [] });
});

test('a dropped file with a line break in the name is imported', async () => {
  drop.addFile('two\nlines.csv', 'o,o,o@example.org');
  drop.markDone('two\nlines.csv');
  await scheduled.start();
  await scheduled.waitForFiles(1);
  expect((await findUser(scheduled.app.key, 'o')).username).toBe('o');
});

const createSystemError = (code: string) => Object.assign(new Error(code), { code, syscall: 'any' });

test('an unreadable dropped file is moved to failed/', async () => {
  drop.addUser('a');
  drop.addUser('b');
  jest.spyOn(DropFolder.prototype, 'read').mockImplementationOnce(() => {
    throw createSystemError('EACCES');
  });
  await scheduled.start();
  await scheduled.waitForFiles(1, 1);
  expect(drop.list('failed')).toEqual([expect.stringMatching(/^a\..*\.csv$/)]);
});

test.each(['moveToProcessing', 'archive'] as const)(
  'a full disk delays only one dropped file (%s)',
  async (step) => {
    drop.addUser('a');
    drop.addUser('b');
    jest.spyOn(DropFolder.prototype, step).mockRejectedValueOnce(createSystemError('ENOSPC'));
    const warnings = jest.spyOn(Log.prototype, 'warn');
    await scheduled.start();
    await scheduled.waitForFiles(2);
    expect(getSkipped(warnings).join()).toMatch(/a\.csv: cannot be moved to \w+ \(ENOSPC\)$/);
    expect(await scheduled.listRuns()).toHaveLength(2);
  },
);

/** Records each logged reason why the drop folder is unavailable. @returns the growing list. */
function watchFaults(): unknown[] {
  const reasons: unknown[] = [];
  jest.spyOn(Log.prototype, 'logFault').mockImplementation((_, __, error) => {
    reasons.push(errorCodeOf(error));
  });
  jest.spyOn(Log.prototype, 'warn').mockImplementation((_, fields) => {
    reasons.push(fields['reason']);
  });
  return reasons;
}

test.each([
  ['missing', () => undefined, 'ENOENT'],
  ['empty', mkdirSync, expect.stringMatching(/not mounted or new. If it is new, create processing in it$/)],
  ['a file', (path: string) => writeFileSync(path, ''), 'drop is a link or a file, not a folder'],
] as const)('the drop folder is reported as unavailable while it is %s', async (_, replace, reason) => {
  await scheduled.stop(await scheduled.start());
  await missTick(scheduled.app);
  drop.addUser('a');
  const away = join(folder, 'away');
  renameSync(drop.folder, away);
  replace(drop.folder);
  const reasons = watchFaults();
  const schedule = await scheduled.start();
  await scheduled.stop(await scheduled.start());
  expect(schedule.folderFault).toEqual(reason);
  expect(reasons).toEqual([reason, reason]); // one of each schedule, although both have checked repeatedly
  if (reason !== 'ENOENT') rmSync(drop.folder, { recursive: true });
  const messages = jest.spyOn(Log.prototype, 'info');
  renameSync(away, drop.folder);
  await scheduled.waitForFiles(1);
  expect(schedule.folderFault).toBeUndefined();
  expect(messages).toHaveBeenCalledWith('drop folder available');
});

test('a drop folder that does not respond delays neither the start nor the end of the service', async () => {
  const check = jest.spyOn(DropFolder.prototype, 'check').mockReturnValue(new Promise(() => undefined));
  const reasons = watchFaults();
  const { setTimeout: wait } = globalThis;
  jest.spyOn(globalThis, 'setTimeout').mockImplementation((work, _, ...args) => wait(work, 1, ...args));
  const schedule = await scheduled.start();
  await scheduled.stop(schedule);
  const fault = 'drop folder is not responding';
  expect([schedule.folderFault, reasons]).toEqual([fault, [fault]]);
  expect(check).toHaveBeenCalledTimes(1);
});

test('an import schedule takes at most 100 files at a time', async () => {
  const listings = jest.spyOn(DropFolder.prototype, 'listDropped');
  const all = Array.from({ length: 105 }, (_, i) => `p${1000 + i}`);
  for (const id of all) drop.addUser(id);
  let most = 0;
  const claim = Reflect.get(DropFolder.prototype, 'moveToProcessing');
  jest.spyOn(DropFolder.prototype, 'moveToProcessing').mockImplementation(async function (
    this: DropFolder,
    ...args
  ) {
    const file = await claim.apply(this, args);
    most = Math.max(most, drop.list('processing').length);
    return file;
  });
  // Import nothing until the schedule has waited once for free capacity.
  const worker = scheduled.app.app.get(ImportWorker);
  const wake = jest.spyOn(worker, 'wake').mockReturnValue(undefined);
  const list = Reflect.get(DropFolder.prototype, 'listProcessing');
  let checks = 0;
  jest.spyOn(DropFolder.prototype, 'listProcessing').mockImplementation(function (this: DropFolder) {
    if (most >= 100 && ++checks === 2) {
      wake.mockRestore();
      worker.wake();
    }
    return list.apply(this);
  });
  await scheduled.start();
  await scheduled.waitForFiles(all.length);
  expect(most).toBe(100);
  expect(listings).toHaveBeenCalledTimes(1);
});
