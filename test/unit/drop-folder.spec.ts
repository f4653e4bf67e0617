import { afterAll, afterEach, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import fs from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FileChangedError, DropFolder } from '../../src/import/schedule/drop-folder.js';
import { ODD_ENTRIES } from '../support/data/folder.js';
import { loadNative } from '../support/jest/native.js';

/** Hooks that run before a file system call. A hook that throws replaces the call. */
let before: Partial<Record<'open' | 'rename' | 'unlink', (path: string) => unknown>> = {};
const { syncBuiltinESMExports } = loadNative('node:module') as typeof import('node:module');

beforeAll(() => {
  for (const call of ['open', 'rename', 'unlink'] as const) {
    const work = fs[call] as (...args: unknown[]) => Promise<never>;
    jest.spyOn(fs, call).mockImplementation(async (...args: unknown[]) => {
      await before[call]?.(String(args[0]));
      return work(...args);
    });
  }
  syncBuiltinESMExports();
});
afterAll(() => {
  jest.restoreAllMocks();
  syncBuiltinESMExports();
});

const ID = '01a1fc00-0000-7000-8000-00000000dead';
const signal = new AbortController().signal;
let folder: string;
let drop: DropFolder;
beforeEach(async () => {
  folder = await fs.mkdtemp(join(tmpdir(), 'rollcall-drop-'));
  drop = new DropFolder(folder, '*.csv');
  await drop.check(true);
});
afterEach(async () => {
  before = {};
  await fs.rm(folder, { recursive: true });
});

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}
/** Claims an existing file. */
async function claim(name: string) {
  const file = await drop.moveToProcessing(name, ID);
  if (!file) throw new Error('another process was faster');
  return file;
}
/** Writes the text to the file a.csv of the drop folder. */
const deliver = (text: string) => fs.writeFile(join(folder, 'a.csv'), text);
const kill = () => {
  throw new Error('killed');
};

test('only a .done file marks a dropped file as complete', async () => {
  for (const name of ['a.csv', 'b.csv', 'c.csv']) await fs.writeFile(join(folder, name), 'half');
  await fs.mkdir(join(folder, 'a.csv.done'));
  await fs.symlink('c.csv', join(folder, 'b.csv.done'));
  await fs.writeFile(join(folder, 'c.csv.done'), '');
  expect((await collect(drop.listDropped())).map(({ name, isComplete: ready }) => [name, ready])).toEqual([
    ['a.csv', false],
    ['b.csv', false],
    ['c.csv', true],
  ]);
});

test.each(['unlink', 'rename'] as const)(
  'a claim interrupted at %s leaves no .done marker for the next file',
  async (call) => {
    await fs.writeFile(join(folder, 'users.csv'), 'of today');
    await fs.writeFile(join(folder, 'users.csv.done'), '');
    before = { [call]: kill };
    await expect(drop.moveToProcessing('users.csv', ID)).rejects.toThrow('killed');
    before = {};
    const [left] = await collect(drop.listProcessing());
    if (!left) expect(await drop.moveToProcessing('users.csv', ID)).toMatchObject({ name: 'users.csv' });
    await fs.writeFile(join(folder, 'users.csv'), 'the first half of tomor');
    expect(await collect(drop.listDropped())).toMatchObject([{ name: 'users.csv', isComplete: false }]);
  },
);

test.each([
  ['one-byte characters', 'a', 250],
  ['four-byte characters', '😀', 62],
])('a file with the longest name in %s is claimed and archived', async (_, letter, count) => {
  const name = `${letter.repeat(count)}.csv`;
  await fs.writeFile(join(folder, name), '');
  const claimed = await claim(name);
  expect(await collect(drop.listProcessing())).toEqual([{ ...claimed, isComplete: false }]);
  await drop.archive(claimed, 'done');
  expect(await fs.readdir(join(folder, 'done'))).toEqual([
    expect.stringMatching(`^(${letter})+\\.${ID}\\.csv$`),
  ]);
});

const swap = async (create: (typeof ODD_ENTRIES)[number][1], path: string) => {
  const secret = join(folder, 'secret.txt');
  await fs.writeFile(secret, 'of others');
  await fs.rm(path);
  await create(path, secret);
};

test.each(ODD_ENTRIES)(
  '%s is not read if it replaces a dropped file after the move to processing/',
  async (reason, kind) => {
    await deliver('of the deliverer');
    const file = await claim('a.csv');
    before = {
      open: async (path) => {
        if (!path.endsWith(file.entry)) return;
        before = {};
        await swap(kind, join(folder, 'processing', file.entry));
      },
    };
    await expect(collect(drop.read(file, signal))).rejects.toMatchObject({ reason });
    expect(before).toEqual({});
  },
);

test.each(ODD_ENTRIES)(
  '%s is not read if it replaces a dropped file before the move to processing/',
  async (reason, kind) => {
    await deliver('of the deliverer');
    before = {
      rename: async () => {
        before = {};
        await swap(kind, join(folder, 'a.csv'));
      },
    };
    const file = await claim('a.csv');
    expect(await collect(drop.listProcessing())).toMatchObject([{ rejection: { reason } }]);
    await expect(collect(drop.read(file, signal))).rejects.toMatchObject({ reason });
  },
);

test('a claim ignores a link that replaces the processing folder', async () => {
  await deliver('of the deliverer');
  await fs.mkdir(join(folder, 'elsewhere'));
  before = {
    rename: async () => {
      before = {};
      await fs.rename(join(folder, 'processing'), join(folder, 'moved'));
      await fs.symlink(join(folder, 'elsewhere'), join(folder, 'processing'));
    },
  };
  await drop.moveToProcessing('a.csv', ID);
  expect(await fs.readdir(join(folder, 'elsewhere'))).toEqual([]);
  expect(await fs.readdir(join(folder, 'moved'))).toEqual([`${ID}~a.csv`]);
});

test('reading a dropped file fails if the file grows', async () => {
  await deliver('one');
  const file = await claim('a.csv');
  const bytes = drop.read(file, signal);
  expect(String((await bytes.next()).value)).toBe('one');
  await fs.appendFile(join(folder, 'processing', file.entry), ', two');
  await expect(collect(bytes)).rejects.toThrow(FileChangedError);
  await expect(collect(drop.read(file, AbortSignal.abort(new Error('the end'))))).rejects.toThrow('the end');
});

test('dropped files are listed once each, sorted by name', async () => {
  const names = Array.from({ length: 3500 }, (_, i) => `${10_000 + i}.csv`);
  await Promise.all(names.map((name) => fs.writeFile(join(folder, name), '')));
  await fs.writeFile(
    Buffer.concat([Buffer.from(folder + '/'), Buffer.from([0xff]), Buffer.from('.csv')]),
    '',
  );
  const found = await collect(drop.listDropped());
  expect(found.map(({ name }) => name)).toEqual([...names, '\ufffd.csv']);
  expect(found.at(-1)?.rejection?.reason).toBe('a file whose name is not UTF-8');
});

test('a drop folder on another file system than before is refused', async () => {
  const elsewhere = Object.assign(await fs.stat(folder), { dev: 0 });
  const stat = jest.spyOn(fs, 'stat').mockResolvedValue(elsewhere);
  syncBuiltinESMExports();
  await expect(drop.check(false)).rejects.toThrow('on another file system than at the start');
  stat.mockRestore();
  syncBuiltinESMExports();
  await drop.check(false);
});

test('a work folder on another file system is refused', async () => {
  const work = join(folder, 'work');
  drop = new DropFolder(folder, '*.csv', work);
  await drop.check(true);
  await drop.probeWorkFolder();
  before = {
    rename: () => {
      throw Object.assign(new Error('EXDEV'), { code: 'EXDEV' });
    },
  };
  await expect(drop.probeWorkFolder()).rejects.toThrow(/^IMPORT_WORK_FOLDER must be on the same file system/);
  expect((await fs.readdir(folder)).sort()).toEqual(['done', 'failed', 'processing', 'work']);
  expect(await fs.readdir(join(work, 'processing'))).toEqual([]);
});

test('a dropped file with a future change time is complete after ten seconds', async () => {
  await deliver('half');
  const future = Date.now() / 1000 + 2 * 24 * 3600;
  await fs.utimes(join(folder, 'a.csv'), future, future);
  const isComplete = async () => (await collect(drop.listDropped()))[0]?.isComplete;
  const started = performance.now();
  expect(await isComplete()).toBe(false);
  const clock = jest.spyOn(performance, 'now').mockReturnValue(started + 9000);
  expect(await isComplete()).toBe(false);
  clock.mockReturnValue(started + 11_000);
  expect(await isComplete()).toBe(true);
  clock.mockRestore();
});
