import { afterAll, afterEach, beforeAll, expect, jest, test } from '@jest/globals';
import { once } from 'node:events';
import { FULL_RIGHTS } from '../../src/access/scopes.js';
import { RunEvents } from '../../src/import/report/run-events.js';
import { MAX_WATCHERS, RunWatchers } from '../../src/import/report/run-watchers.js';
import type { ImportRun } from '../../src/import/runs/import-run.js';
import { TestApp } from '../support/app/app.js';
import { problemOf } from '../support/app/people.js';
import { csv, imported } from '../support/app/imports.js';

let app: TestApp;
let id: string;
beforeAll(async () => {
  app = await TestApp.start();
  id = (await imported(app.key, csv('ExternalId,Username,Email', 'e,e,e@example.org'))).id as string;
});
afterAll(() => app.end());
afterEach(() => {
  jest.restoreAllMocks();
});

/** A run that never ends: it is watched until somebody leaves. */
function endless(): void {
  jest.spyOn(app.app.get(RunEvents), 'watch').mockImplementation(async function* (_id, signal) {
    if (signal?.aborted === false) await once(signal, 'abort');
    yield* [];
  });
}

test('so many clients watch, the next one is told to come back, and a place that is left is free', async () => {
  endless();
  const watchers = app.app.get(RunWatchers);
  const gone = new AbortController();
  const actor = {
    kind: 'key',
    id: 'any',
    rights: FULL_RIGHTS,
    family: 'any',
    ignoresUnknownFields: false,
    profile: 'standard',
  } as const;
  const ends: Promise<IteratorResult<ImportRun>>[] = [];
  for (let each = 0; each < MAX_WATCHERS; each++) ends.push(watchers.watch(id, actor, gone.signal).next());
  const refused = await app.key.get(`/imports/${id}/events`);
  expect(problemOf(refused)).toEqual([503, 'unavailable']);
  expect(refused.headers['retry-after']).toMatch(/^[1-9]\d*$/);
  gone.abort();
  await Promise.all(ends);
  jest.restoreAllMocks();
  expect((await app.key.get(`/imports/${id}/events`)).status).toBe(200);
});

test('a client that only listens stops with its session', async () => {
  endless();
  const client = await app.login();
  const sessions = await client.get('/sessions');
  const events = client.get(`/imports/${id}/events`);
  await app.key.delete(`/sessions/${sessions.body.Results[0].id as string}`);
  const { status, text } = await events;
  expect([status, text]).toEqual([200, '']);
});

test('… and with its key', async () => {
  endless();
  const { body } = await app.key.post('/api_keys', { name: 'watcher' });
  const events = app.nobody.get(`/imports/${id}/events`, { 'x-api-key': body.key });
  await app.key.get('/users/search'); // the events are asked for before the key is revoked
  await app.key.delete(`/api_keys/${body.id as string}`);
  expect([(await events).status].filter((status) => status !== 401)).toEqual([200]);
});
