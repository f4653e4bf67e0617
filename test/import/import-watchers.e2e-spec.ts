import { afterEach, beforeAll, expect, jest, test } from '@jest/globals';
import { once } from 'node:events';
import { FULL_RIGHTS } from '../../src/access/actor.js';
import { MAX_WATCHERS, RunEvents } from '../../src/import/report/run-events.js';
import type { ImportRun } from '../../src/import/runs/import-run.js';
import { setUpApp } from '../support/app/app.js';
import type { Client } from '../support/app/client.js';
import { aKey } from '../support/app/credentials.js';
import { problemOf } from '../support/app/people.js';
import { runImport } from '../support/app/imports.js';
import { fileOf } from '../support/data/user-file.js';

const app = setUpApp();
let id: string;
beforeAll(async () => void (id = (await runImport(app.key, fileOf('e'))).id as string));
afterEach(() => void jest.restoreAllMocks());

/** Mocks a run that never ends and is watched until its client disconnects. Resolves when a client watches it. */
function mockEndlessRun(): Promise<void> {
  return new Promise((resolve) => {
    jest.spyOn(app.app.get(RunEvents), 'watch').mockImplementation(async function* (_id, signal) {
      resolve();
      if (signal?.aborted === false) await once(signal, 'abort');
      yield* [];
    });
  });
}

test('GET /imports/{id}/events returns 503 if too many clients watch', async () => {
  void mockEndlessRun();
  const events = app.app.get(RunEvents);
  const abort = new AbortController();
  const actor = {
    kind: 'key',
    id: 'any',
    rights: FULL_RIGHTS,
    ignoresUnknownFields: false,
    profile: 'standard',
  } as const;
  const ends: Promise<IteratorResult<ImportRun>>[] = [];
  for (let each = 0; each < MAX_WATCHERS; each++)
    ends.push(events.watchWhileAuthorized(id, actor, abort.signal).next());
  const refused = await app.key.get(`/imports/${id}/events`);
  expect(problemOf(refused)).toEqual([503, 'unavailable']);
  expect(refused.headers['retry-after']).toMatch(/^[1-9]\d*$/);
  abort.abort();
  await Promise.all(ends);
  jest.restoreAllMocks();
  expect((await app.key.get(`/imports/${id}/events`)).status).toBe(200);
});

test.each<[string, () => Promise<{ client: Client; path: string }>]>([
  [
    'session',
    async () => {
      const client = await app.login();
      const [session] = (await client.get('/sessions')).body.Results;
      return { client, path: `/sessions/${session.id as string}` };
    },
  ],
  [
    'API key',
    async () => {
      const key = await aKey(app);
      return { client: key.client, path: `/api_keys/${key.id}` };
    },
  ],
])('an import event stream ends when its %s is revoked', async (_, make) => {
  const { client, path } = await make();
  const watched = mockEndlessRun();
  const events = client.get(`/imports/${id}/events`);
  await watched;
  await app.key.delete(path);
  const { status, text } = await events;
  expect([status, text]).toEqual([200, '']);
});
