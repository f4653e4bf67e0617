import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import * as fs from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The calls of the file system at which the process ends: nothing more is done from there on. */
let killedAt: 'rename' | 'rm' | undefined;
const kill = () => Promise.reject(new Error('killed'));
const real = { ...fs };
jest.unstable_mockModule('node:fs/promises', () => ({
  ...real,
  rename: (from: string, to: string) => (killedAt === 'rename' ? kill() : real.rename(from, to)),
  rm: (path: string, options: object) => (killedAt === 'rm' ? kill() : real.rm(path, options)),
}));
const { DropFolder } = await import('../../src/import/schedule/drop-folder.js');

let folder: string;
beforeEach(async () => void (folder = await fs.mkdtemp(join(tmpdir(), 'rollcall-drop-'))));
afterEach(async () => fs.rm(folder, { recursive: true }));

test.each(['rm', 'rename'] as const)(
  'a process that is killed at the %s of a claim leaves no marker for the next file of the name',
  async (call) => {
    const drop = new DropFolder(folder, '*.csv');
    await fs.writeFile(join(folder, 'users.csv'), 'of today');
    await fs.writeFile(join(folder, 'users.csv.done'), '');
    killedAt = call;
    await expect(drop.claim('users.csv', 'run-1')).rejects.toThrow('killed');
    killedAt = undefined;
    const [left] = await drop.claimed();
    if (!left) expect(await drop.claim('users.csv', 'run-2')).toMatchObject({ name: 'users.csv' });
    await fs.writeFile(join(folder, 'users.csv'), 'the first half of tomor');
    expect(await drop.waiting()).toEqual([{ name: 'users.csv', ready: false }]);
  },
);

test.each([
  ['letters', 'a', 250],
  ['characters of four bytes', '😀', 62],
])('a file whose name of %s is as long as names can be comes to its end', async (_, letter, count) => {
  const name = `${letter.repeat(count)}.csv`;
  const id = '01a1fc00-0000-7000-8000-00000000dead';
  const drop = new DropFolder(folder, '*.csv');
  await fs.writeFile(join(folder, name), '');
  const claimed = await drop.claim(name, id);
  if (!claimed) throw new Error('another process was faster');
  expect(await drop.claimed()).toEqual([claimed]);
  await drop.archive(claimed, 'done');
  expect(await fs.readdir(join(folder, 'done'))).toEqual([
    expect.stringMatching(`^(${letter})+\\.${id}\\.csv$`),
  ]);
});
