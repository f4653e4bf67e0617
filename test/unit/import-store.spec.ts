import { expect, test } from '@jest/globals';
import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import type { TransactionRunner } from '../../src/database/transaction-runner.js';
import type { ImportFilesRepository } from '../../src/import/file/import-files.repository.js';
import { ImportStore } from '../../src/import/file/import-store.js';

/** A database that answers late, as it does over a network. */
const slow = () => {
  const parts: string[] = ['of an earlier attempt'];
  const files = {
    deleteUnneeded: async () => {
      await setImmediate();
      parts.length = 0;
    },
    append: async (_run: string, part: number, bytes: Buffer) => {
      await setImmediate();
      parts[part] = bytes.toString();
    },
  };
  const transactions = { run: (work: () => Promise<void>) => work() };
  const store = new ImportStore(
    files as unknown as ImportFilesRepository,
    transactions as unknown as TransactionRunner,
  );
  return { parts, store };
};

test('a file replaces what an earlier attempt has left', async () => {
  const { parts, store } = slow();
  const file = await store.store('a.csv', Readable.from([Buffer.from('Extern'), Buffer.from('alId')]), 'run');
  expect(file).toMatchObject({ runId: 'run', name: 'a.csv', size: 10 });
  expect(parts).toEqual(['ExternalId']);
});

test('a stream that fails before its first byte rejects, and leaves nothing', async () => {
  const { parts, store } = slow();
  const file = createReadStream('no-such-file.csv');
  await expect(store.store('no-such-file.csv', file)).rejects.toThrow('ENOENT');
  expect(parts).toEqual([]);
});
