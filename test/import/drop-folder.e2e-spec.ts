import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { appendFileSync, linkSync, mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { type Server, createServer } from 'node:net';
import { join } from 'node:path';
import { TestApp } from '../support/app/app.js';
import type { Json } from '../support/app/client.js';
import { Dropped, firstStart } from '../support/app/drop-folder.js';
import { csv, linked } from '../support/app/imports.js';
import { processDatabase, Process, newcomer } from '../support/process/process.js';
import { DropFolder } from '../../src/import/schedule/drop-folder.js';
import { Log } from '../../src/telemetry/log.js';
import { hurry } from '../support/app/clock.js';

hurry();

/** What somebody who may write to the drop folder can put there, and what becomes of the files beside it. */
const database = processDatabase();
let drop: Dropped;
let apps: TestApp[] = [];
let servers: Server[] = [];
let secret: string;

beforeEach(() => {
  drop = new Dropped(join(database.folder, 'drop'));
  secret = join(database.folder, 'secret.csv');
  writeFileSync(secret, csv('ExternalId,Username,Email', 'top,top-secret,top@example.org'));
  [apps, servers] = [[], []];
});
afterEach(async () => {
  jest.restoreAllMocks();
  for (const app of apps) await app.stop();
  for (const server of servers) server.close();
});

const settings = () => ({
  IMPORT_FOLDER: drop.folder,
  IMPORT_WORK_FOLDER: drop.work,
  IMPORT_CRON: '0 0 1 1 *',
});
const start = async () => {
  const app = await TestApp.on(database, settings());
  apps.push(app);
  return app;
};
const ID = '01a1fc00-0000-7000-8000-00000000dead';

const KINDS: Record<string, (path: string) => void> = {
  'a link': (path) => {
    symlinkSync(secret, path);
  },
  'a folder': (path) => {
    mkdirSync(path);
  },
  'a pipe': (path) => {
    execFileSync('mkfifo', [path]);
  },
  'a socket': (path) => {
    servers.push(createServer().listen(path));
  },
  'a file with a second name (a hard link)': (path) => {
    linkSync(secret, path);
  },
};
/** What the log names, as "file: reason". */
const named = (warnings: { mock: { calls: Parameters<Log['warning']>[] } }) =>
  warnings.mock.calls
    .filter(([message]) => message === 'file left alone')
    .map(([, { file, reason }]) => `${file}: ${reason}`);

test('what is no regular file is left alone and named once, and the next file is imported', async () => {
  await firstStart(database, settings());
  const kinds = Object.entries(KINDS);
  kinds.forEach(([, make], i) => {
    make(join(drop.folder, `a${i}.csv`));
    drop.mark(`a${i}.csv`);
  });
  mkdirSync(join(drop.folder, 'z.csv.done')); // no marker either
  drop.file('z.csv', 'z,z,z@example.org');
  drop.person('b');
  const warnings = jest.spyOn(Log.prototype, 'warning');
  const app = await start();
  await drop.until(() => drop.names('done').length === 2);
  expect((await linked(app.key, 'b')).username).toBe('b');
  expect(drop.names('')).toEqual(
    expect.arrayContaining(kinds.flatMap((_, i) => [`a${i}.csv`, `a${i}.csv.done`])),
  );
  expect((await app.key.get('/imports')).body.Count).toBe(2);
  expect(named(warnings)).toEqual(kinds.map(([kind], i) => `a${i}.csv: ${kind}`));
});

test('the same in processing/, where a killed instance would have left it', async () => {
  await firstStart(database, settings());
  const kinds = Object.entries(KINDS);
  const entries = kinds.map((_, i) => `${ID.replace('dead', `000${i}`)}~a.csv`);
  kinds.forEach(([, make], i) => {
    make(join(drop.work, 'processing', entries[i] ?? ''));
  });
  writeFileSync(join(drop.work, 'processing', '1~short.csv'), '');
  drop.person('b');
  const warnings = jest.spyOn(Log.prototype, 'warning');
  const app = await start();
  await drop.until(() => drop.names('done').length === 1);
  expect(drop.names('processing')).toEqual([...entries, '1~short.csv']);
  const { Results } = (await app.key.get('/imports')).body as { Results: Json[] };
  expect(Results.map((run) => run.file.name)).toEqual(['b.csv']);
  expect(named(warnings)).toEqual([
    ...kinds.map(([kind], i) => `${entries[i] ?? ''}: ${kind}`),
    '1~short.csv: not from this service',
  ]);
});

test('pipes in the folder and in processing/ do not hold up the end of the process', async () => {
  await firstStart(database, settings());
  for (const path of ['a.csv', `processing/${ID}~a.csv`]) KINDS['a pipe']?.(join(drop.folder, path));
  drop.mark('a.csv');
  drop.person('b');
  const service = await Process.running({ ...newcomer(database), DATABASE_URL: database.url, ...settings() });
  await drop.until(() => drop.names('done').length === 1);
  expect(service.out).toMatch(/"file left alone"/);
  expect(await service.stop()).toEqual({ code: 0, signal: null });
});

test('a link in the place of processing/ is not followed', async () => {
  await firstStart(database, settings());
  const elsewhere = join(database.folder, 'elsewhere');
  renameSync(join(drop.work, 'processing'), elsewhere);
  symlinkSync(elsewhere, join(drop.work, 'processing'));
  writeFileSync(join(elsewhere, `${ID}~a.csv`), csv('ExternalId,Username,Email', 'x,x,x@example.org'));
  drop.person('b');
  const warned = new Promise<unknown>((resolve) => {
    jest.spyOn(Log.prototype, 'warning').mockImplementation((message, fields) => {
      if (message === 'schedule waits') resolve(fields);
    });
  });
  const app = await start();
  expect(await warned).toEqual({ reason: 'processing is a link or a file where a folder is needed' });
  expect(drop.names('')).toContain('b.csv');
  expect((await app.key.get('/imports')).body.Count).toBe(0);
});

test('work folders outside of the drop folder', async () => {
  drop = new Dropped(join(database.folder, 'incoming'), join(database.folder, 'work'));
  await firstStart(database, settings());
  drop.person('b');
  drop.file('c.csv', 'c,,');
  drop.mark('c.csv');
  writeFileSync(join(drop.folder, 'd.csv'), 'Nonsense\n1\n');
  drop.mark('d.csv');
  await start();
  await drop.until(() => drop.names('done').length + drop.names('failed').length === 3);
  expect([drop.names(''), drop.names('processing'), drop.names('failed').length]).toEqual([[], [], 1]);
});

test('a name with a line break is a name like others', async () => {
  await firstStart(database, settings());
  drop.file('two\nlines.csv', 'o,o,o@example.org');
  drop.mark('two\nlines.csv');
  const app = await start();
  await drop.until(() => drop.names('done').length === 1);
  expect((await linked(app.key, 'o')).username).toBe('o');
});

test('a file that is written to while it is read is imported when it is whole', async () => {
  await firstStart(database, settings());
  drop.person('b');
  const read = Reflect.get(DropFolder.prototype, 'read');
  jest.spyOn(DropFolder.prototype, 'read').mockImplementationOnce(async function* (
    this: DropFolder,
    ...args
  ) {
    let first = true;
    for await (const chunk of read.apply(this, args)) {
      yield chunk;
      if (first) appendFileSync(join(drop.work, 'processing', args[0].entry), 'c,c,c@example.org\n');
      first = false;
    }
  });
  const warnings = jest.spyOn(Log.prototype, 'warning');
  const app = await start();
  await drop.until(() => drop.names('done').length === 1);
  expect(named(warnings)).toEqual([expect.stringMatching(/~b\.csv: still written to$/)]);
  expect((await app.key.get('/imports')).body.Count).toBe(1);
  expect((await linked(app.key, 'c')).username).toBe('c');
});

const refusal = (code: string) => Object.assign(new Error(code), { code, syscall: 'any' });

test('a file that may not be read ends in failed, and the next one is imported', async () => {
  await firstStart(database, settings());
  drop.person('a');
  drop.person('b');
  jest.spyOn(DropFolder.prototype, 'read').mockImplementationOnce(() => {
    throw refusal('EACCES');
  });
  await start();
  await drop.until(() => drop.names('done').length === 1);
  expect(drop.names('failed')).toEqual([expect.stringMatching(/^a\..*\.csv$/)]);
});

test.each(['claim', 'archive'] as const)(
  'a disk that is full at a %s delays that file alone',
  async (step) => {
    await firstStart(database, settings());
    drop.person('a');
    drop.person('b');
    jest.spyOn(DropFolder.prototype, step).mockRejectedValueOnce(refusal('ENOSPC'));
    const warnings = jest.spyOn(Log.prototype, 'warning');
    const app = await start();
    await drop.until(() => drop.names('done').length === 2);
    expect(named(warnings)).toEqual([expect.stringMatching(/a\.csv: not movable to \w+ \(ENOSPC\)$/)]);
    expect((await app.key.get('/imports')).body.Count).toBe(2);
  },
);

test('a folder that disappears and comes back', async () => {
  await firstStart(database, settings());
  drop.person('a');
  const away = join(database.folder, 'away');
  renameSync(drop.folder, away);
  const faults = jest.spyOn(Log.prototype, 'fault');
  const missed = new Promise<void>((resolve) => {
    faults.mockImplementation(() => {
      resolve();
    });
  });
  await start();
  await missed;
  renameSync(away, drop.folder);
  await drop.until(() => drop.names('done').length === 1);
  expect(faults).toHaveBeenCalledTimes(1);
});

test('of very many files only some are claimed at a time', async () => {
  await firstStart(database, settings());
  const all = Array.from({ length: 130 }, (_, i) => `p${1000 + i}`);
  for (const id of all) drop.person(id);
  let most = 0;
  const claim = Reflect.get(DropFolder.prototype, 'claim');
  jest.spyOn(DropFolder.prototype, 'claim').mockImplementation(async function (this: DropFolder, ...args) {
    const file = await claim.apply(this, args);
    most = Math.max(most, drop.names('processing').length);
    return file;
  });
  await start();
  await drop.until(() => drop.names('done').length === all.length);
  expect(most).toBeLessThanOrEqual(100);
});
