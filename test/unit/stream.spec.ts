import { expect, jest, test } from '@jest/globals';
import type { Response } from 'express';
import { Writable } from 'node:stream';
import { streamText } from '../../src/platform/http/stream.js';

test('a long stream of text lets other requests run', async () => {
  let millis = 0;
  jest.spyOn(performance, 'now').mockImplementation(() => ++millis);
  let othersRun = false;
  let hasWaited = false;
  async function* build() {
    setImmediate(() => (othersRun = true));
    for (let piece = 0; !othersRun && piece < 100; piece++) yield 'x';
    hasWaited = !othersRun;
  }
  // Like a socket whose client reads fast.
  const fast = new Writable({
    write: (_chunk, _encoding, done) => {
      done();
    },
  });
  const response = Object.assign(fast, { vary: () => undefined });
  await streamText(response as unknown as Response, build());
  expect(hasWaited).toBe(false);
});
