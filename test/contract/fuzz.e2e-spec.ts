import { beforeAll, describe, expect, jest, test } from '@jest/globals';
import fc from 'fast-check';
import { API_KEY, setUpApp } from '../support/app/app.js';
import { Client, type Answer } from '../support/app/client.js';
import { create } from '../support/data/factories.js';
import { type FuzzRequest, requestsOf } from '../support/data/fuzz-requests.js';
import { type Operation, OPERATIONS } from '../support/app/operations.js';
import { aGroup } from '../support/app/groups.js';
import { csv, runImport } from '../support/app/imports.js';

/**
 * Sends valid, almost valid and hostile requests to every operation of the OpenAPI file. A response must have a
 * documented status below 500 and a body that matches its schema (the client checks both). Every run sends the same
 * requests. FUZZ_REQUESTS sets their number and prints a summary of the responses.
 */
const SEED = 20_260_131;
const TOTAL = Number(process.env['FUZZ_REQUESTS'] ?? 1500);
const CHUNK = 50;
const EACH = Math.ceil(TOTAL / OPERATIONS.length);
jest.setTimeout(60_000 + EACH * 500);

const app = setUpApp();
/** Ids of existing records, by path parameter. */
const known: Record<string, string[]> = {};
/** Sessions for the two operations that do not accept an API key, by path. */
const sessions: Record<string, Client> = {};

beforeAll(async () => {
  const users = await Promise.all([1, 2, 3].map(() => create(app.key, { password: 'a good password' })));
  known['user_id'] = users.map(({ uuid }) => uuid as string);
  const key = await app.key.post('/api_keys', { name: 'to be revoked' });
  known['key_id'] = [key.body.id];
  const file = csv('ExternalId,Username,Email', 'F-1,fuzzed,fuzzed@example.org', 'F-2,x,nowhere');
  const runs = [await runImport(app.key, file), await runImport(app.key, file, 'dry_run=true')];
  known['import_id'] = runs.map(({ id }) => id as string);
  known['group_id'] = [(await aGroup(app)).uuid, (await aGroup(app)).uuid];
  known['name'] = ['moodle', 'fuzzed'];
  await app.key.put('/import_profiles/fuzzed', { columns: { Id: 'ExternalId' } });
  const person = await create(app.key, { password: 'a good password' });
  for (let times = 0; times < 3; times++) await app.login(person.username, 'a good password');
  known['session_id'] = (await app.key.get(`/sessions?user_uuid=${person.uuid}`)).body.Results.map(
    ({ id }: { id: string }) => id,
  );
  for (const path of ['/users/me', '/sessions/logout']) sessions[`/api/0.3${path}`] = await app.login();
});

/** Fills the path with the id of an existing record, the one at position `at`. */
const fillPath = (path: string, at: number) =>
  path.replace(/<(\w+)>/, (_, name: string) => {
    const ids = known[name.toLowerCase()] ?? [];
    const id = ids[at % ids.length] ?? '';
    return name === name.toLowerCase() ? id : id.toUpperCase();
  });

/** Waits for a response. @throws Error if the response takes longer than `ms` milliseconds */
async function limitTime<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no response after ${ms} ms`)), ms);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

/** Sends a request and returns its fault, or undefined if the response is valid. */
async function findFault(client: Client, request: FuzzRequest, seen: Map<number, number>, at: number) {
  const { method, headers, body } = request;
  const path = fillPath(request.path, at);
  let answer: Answer;
  try {
    answer = await limitTime(60_000, client.fetchChecked(method, path, body, headers));
  } catch (error) {
    return {
      why: String(error).slice(0, 1000),
      request: { ...request, path, body: String(body).slice(0, 1000) },
    };
  }
  seen.set(answer.status, (seen.get(answer.status) ?? 0) + 1);
  if (answer.status < 500) return undefined;
  return { why: `${answer.status} ${answer.text}`, request: { ...request, path } };
}

/** Yields numbered requests. Generates them in chunks, because a long pause would outlast a keep-alive connection. */
function* generateRequests(operation: Operation): Generator<[number, FuzzRequest]> {
  const all = requestsOf(operation);
  for (let first = 0; first < EACH; first += CHUNK) {
    const numRuns = Math.min(CHUNK, EACH - first);
    const made = fc.sample(all, { seed: SEED + first, numRuns });
    for (const [at, request] of made.entries()) yield [first + at, request];
  }
}

describe(`${EACH} random requests`, () => {
  test.each(OPERATIONS.map((operation) => [`${operation.method} ${operation.path}`, operation] as const))(
    'to %s get only documented statuses below 500',
    async (what, operation) => {
      const seen = new Map<number, number>();
      const faults: unknown[] = [];
      const client = sessions[operation.path] ?? new Client(app.url, { 'x-api-key': API_KEY });
      const began = performance.now();
      let slowest = 0;
      for (const [at, request] of generateRequests(operation)) {
        const started = performance.now();
        const found = await findFault(client, request, seen, at);
        slowest = Math.max(slowest, performance.now() - started);
        if (found) faults.push(found);
      }
      if (process.env['FUZZ_REQUESTS'] !== undefined) {
        const answers = [...seen].sort(([a], [b]) => a - b).map(([status, count]) => `${status}: ${count}`);
        const ms = `${Math.round(performance.now() - began)} ms, slowest ${Math.round(slowest)} ms`;
        process.stderr.write(`${what}: ${answers.join(', ')}; ${ms}\n`);
      }
      expect(faults.slice(0, 5)).toEqual([]);
    },
  );
});
