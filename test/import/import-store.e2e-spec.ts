import { expect, jest, test } from '@jest/globals';
import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { ImportFilesRepository, PART_BYTES } from '../../src/import/file/import-files.repository.js';
import { FileStore } from '../../src/import/file/file-store.js';
import { setUpApp } from '../support/app/app.js';
import { databaseOf } from '../support/app/people.js';

const RUN = '01a1fc00-0000-7000-8000-00000000dead';
const app = setUpApp();

const store: FileStore['store'] = (...args) => app.app.get(FileStore).store(...args);
const readParts = () => databaseOf(app).query('SELECT part FROM import_file_parts');

test('storing an import file again replaces all file parts', async () => {
  await store('a.csv', Readable.from(Array.from({ length: 20 }, () => Buffer.alloc(PART_BYTES))), RUN);
  expect(await readParts()).toHaveLength(21);
  const file = await store('a.csv', Readable.from([Buffer.from('Extern'), Buffer.from('alId')]), RUN);
  expect(file).toMatchObject({ runId: RUN, name: 'a.csv', size: 10, parts: 1 });
  expect(await readParts()).toEqual([{ part: 0 }]);
});

test('an import file whose stream fails leaves no parts', async () => {
  const file = createReadStream('no-such-file.csv');
  // The database responds after the stream has failed, so the stream has no listener in the meantime.
  const files = app.app.get(ImportFilesRepository);
  const work = files.deleteUnused.bind(files);
  jest.spyOn(files, 'deleteUnused').mockImplementationOnce(async (...args) => {
    while (!file.closed) await setImmediate();
    return work(...args);
  });
  await expect(store('no-such-file.csv', file, RUN)).rejects.toThrow('ENOENT');
  expect(await readParts()).toEqual([]);
});
