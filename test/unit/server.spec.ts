import { expect, test } from '@jest/globals';
import { createServer } from 'node:http';
import { boundSlowClients } from '../../src/http/server.js';

test('a connection without headers is closed after 15 seconds, a slow request after 15 minutes', () => {
  const server = createServer();
  boundSlowClients(server);
  expect([server.headersTimeout, server.requestTimeout]).toEqual([15_000, 900_000]);
});
