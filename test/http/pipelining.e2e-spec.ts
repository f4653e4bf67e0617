import { expect, test } from '@jest/globals';
import { API_KEY, setUpApp } from '../support/app/app.js';
import { RawConnection } from '../support/app/raw.js';
import { aUser, create } from '../support/data/factories.js';

/** Requests that a client sends on one connection without waiting for responses. */
const app = setUpApp();

const format = (line: string, body = ''): string =>
  `${line} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${API_KEY}\r\nContent-Type: application/json\r\n` +
  `Content-Length: ${body.length}\r\n\r\n${body}`;
const countResponses = (text: string): number => text.split('HTTP/1.1 ').length - 1;

async function send(text: string): Promise<RawConnection> {
  const connection = await RawConnection.open(app.url);
  connection.socket.write(text);
  return connection;
}

test('each request sees the changes of the requests that were sent before it', async () => {
  const path = `/api/0.3/users/${(await create(app.key)).uuid}`;
  const changes = Array.from({ length: 20 }, (_, index) =>
    [format(`PUT ${path}`, `{"phone":"${index}"}`), format(`GET ${path}`)].join(''),
  );
  const connection = await send(changes.join(''));
  const readPhones = (text: string) =>
    [...text.matchAll(/"phone":"(\d+)"/g)].map(([, phone]) => Number(phone));
  const phones = readPhones(await connection.waitFor({ test: (text) => readPhones(text).length === 40 }));
  expect(phones).toEqual(Array.from({ length: 40 }, (_, index) => Math.floor(index / 2)));
  connection.socket.destroy();
});

test('a request on another connection is served between the requests of a pipeline', async () => {
  const pipeline = await send('');
  const other = await send('');
  pipeline.socket.write(format('GET /health/live').repeat(101));
  other.socket.write(format('GET /health/live'));
  await other.waitFor(/200 OK/);
  expect(countResponses(await pipeline.waitFor(/200 OK/))).toBeLessThan(50);
  expect(countResponses(await pipeline.waitFor({ test: (text) => countResponses(text) === 101 }))).toBe(101);
  for (const { socket } of [pipeline, other]) socket.destroy();
});

test('a connection with more than 100 waiting requests is closed, and these requests are not served', async () => {
  const createUser = (_: unknown, index: number): string =>
    format('POST /api/0.3/users', JSON.stringify(aUser({ username: `waiting ${index}` })));
  const pipeline = await send(Array.from({ length: 102 }, createUser).join(''));
  expect(countResponses(await pipeline.ended)).toBeLessThan(2);
  const { body } = await app.key.get('/users/search?fulltext_search=waiting');
  expect(body.Count).toBeLessThan(2);
});
