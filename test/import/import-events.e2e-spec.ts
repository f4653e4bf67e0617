import { expect, jest, test } from '@jest/globals';
import { Readable } from 'node:stream';
import { readInput } from '../../src/platform/input/read-input.js';
import { SYSTEM } from '../../src/access/actor.js';
import { FileStore } from '../../src/import/file/file-store.js';
import { ImportOptions } from '../../src/import/runs/import-options.js';
import { RunQueue } from '../../src/import/apply/run-queue.service.js';
import { RunEvents } from '../../src/import/report/run-events.js';
import { setUpApp } from '../support/app/app.js';
import { fileOf } from '../support/data/user-file.js';

const app = setUpApp();

test('RunEvents reports the end of an import without polling', async () => {
  const file = Readable.from([Buffer.from(fileOf('e1'))]);
  const stored = await app.app.get(FileStore).store('events.csv', file);
  // The timers are fake, so that polling is impossible.
  jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'setInterval', 'clearInterval', 'Date'] });
  try {
    const caller = { actor: SYSTEM, requestId: 'test', ip: '' };
    const { id } = await app.app.get(RunQueue).submit(stored, readInput(ImportOptions, {}).value, caller);
    const states: string[] = [];
    for await (const { state } of app.app.get(RunEvents).watch(id)) states.push(state);
    expect(states.at(-1)).toBe('completed');
  } finally {
    jest.useRealTimers();
  }
});
