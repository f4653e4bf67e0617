import { describe, expect, jest, test } from '@jest/globals';
import { DATABASE } from '../../src/platform/database/engine/database.js';
import { Metrics } from '../../src/platform/telemetry/metrics.js';
import type { WriteState } from '../../src/platform/database/engine/sql.js';
import { setUpApp } from '../support/app/app.js';
import { csv, runImport } from '../support/app/imports.js';
import { databaseOf } from '../support/app/people.js';

/** Health probes and metrics. */
const TOKEN = 'a-token-of-prometheus';
const app = setUpApp({ METRICS_TOKEN: TOKEN, IMPORT_OVERDUE_HOURS: '1' });

const getMetrics = async (headers: Record<string, string> = { authorization: `Bearer ${TOKEN}` }) =>
  app.guest.fetch('GET', '/metrics', undefined, headers);
/** Reads the value of a metric. */
const readMetric = async (line: string): Promise<number> => {
  const { text } = await getMetrics();
  const found = text.split('\n').find((candidate) => candidate.startsWith(`${line} `));
  return Number(found?.slice(line.length));
};

test('without a database, /health/ready returns 503 and /health/live returns 200', async () => {
  const database = app.app.get<{ query: unknown; checkWriteState: unknown }>(DATABASE);
  const { query, checkWriteState } = database;
  const away = () => Promise.reject(new Error('away'));
  Object.assign(database, { query: away, checkWriteState: away });
  try {
    const { status, body, headers } = await app.guest.fetch('GET', '/health/ready');
    expect({ status, code: body.code, detail: body.detail }).toEqual({
      status: 503,
      code: 'unavailable',
      detail: 'Not ready: database does not answer.',
    });
    expect(headers['retry-after']).toMatch(/^\d+$/);
    expect((await app.guest.fetch('GET', '/health/live')).status).toBe(200);
    expect(await readMetric('rollcall_imports_parked')).toBeNaN();
  } finally {
    Object.assign(database, { query, checkWriteState });
  }
  expect((await app.guest.fetch('GET', '/health/ready')).status).toBe(200);
});

test.each([
  ['read_only', 'Not ready: database is read-only.'],
  ['out_of_sync', 'Not ready: database is out of sync with its cluster.'],
])('/health/ready returns 503 with the reason if the database is %s', async (checkWriteState, detail) => {
  const asked = jest
    .spyOn(databaseOf(app), 'checkWriteState')
    .mockResolvedValue(checkWriteState as WriteState);
  const { status, body } = await app.guest.fetch('GET', '/health/ready');
  expect([status, body.code, body.detail]).toEqual([503, 'unavailable', detail]);
  expect(await readMetric(`rollcall_not_ready{reason="${checkWriteState}"}`)).toBe(1);
  asked.mockRestore();
  expect(await readMetric(`rollcall_not_ready{reason="${checkWriteState}"}`)).toBe(0);
  expect((await app.guest.fetch('GET', '/health/ready')).status).toBe(200);
});

describe('metrics', () => {
  test('require METRICS_TOKEN', async () => {
    for (const authorization of ['', 'Bearer wrong-token-of-nobody', `Basic ${TOKEN}x`]) {
      const { status, headers } = await getMetrics({ authorization });
      expect([status, headers['www-authenticate']]).toEqual([401, 'Bearer realm="rollcall metrics"']);
    }
    const { status, headers, text } = await getMetrics();
    expect([status, headers['content-type']]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8']);
    expect(text).toContain('# HELP process_cpu_seconds_total');
  });
  test('count requests by route and never show a path', async () => {
    await app.key.get('/users/00000000-0000-4000-8000-00000000dead');
    await app.key.fetch('GET', '/secret-of-a-client');
    const count = (route: string, status: number) =>
      `http_request_duration_seconds_count{method="GET",route="${route}",status="${status}"}`;
    expect(await readMetric(count('/api/0.3/users/:user_id', 404))).toBe(1);
    expect(await readMetric(count('none', 404))).toBe(1);
    expect((await getMetrics()).text).not.toMatch(/dead|secret-of/);
  });
  test('count logins by result', async () => {
    await app.login();
    for (let i = 0; i < 6; i++) {
      await app.guest.post('/sessions/login', { username: 'guessed', password: 'a wrong password' });
    }
    const logins = ['success', 'failed', 'throttled'].map((result) =>
      readMetric(`rollcall_logins_total{result="${result}"}`),
    );
    expect(await Promise.all(logins)).toEqual([1, 5, 1]);
  });
  test('report overdue, completed and waiting imports', async () => {
    expect(await readMetric('rollcall_import_overdue')).toBe(1);
    expect(await readMetric('rollcall_import_last_completed_timestamp_seconds')).toBe(0);
    const people = (status: string) =>
      csv(
        'ExternalId,Username,Email,Status',
        ...Array.from({ length: 9 }, (_, i) => `m${i},m${i},m${i}@example.org,${status}`),
      );
    await runImport(app.key, people('Active'));
    expect(await readMetric('rollcall_import_overdue')).toBe(0);
    const last = await readMetric('rollcall_import_last_completed_timestamp_seconds');
    expect(Math.abs(last - Date.now() / 1000)).toBeLessThan(60);
    await runImport(app.key, people('Blocked'));
    expect(await readMetric('rollcall_imports_parked')).toBe(1);
  });
  test('report zero used connections while the service is idle', async () => {
    for (const name of [
      'rollcall_database_connections_in_use',
      'rollcall_database_requests_waiting',
      'rollcall_password_hashes_waiting',
    ]) {
      // The import worker also uses the database.
      while ((await readMetric(name)) !== 0);
    }
  });
});

test('simultaneous requests for metrics share one rendering', async () => {
  await getMetrics();
  const render = jest.spyOn(app.app.get(Metrics), 'renderText');
  await Promise.all(Array.from({ length: 20 }, () => getMetrics()));
  expect(render).toHaveBeenCalledTimes(1);
});

test('clients cannot create an unlimited number of metric series', async () => {
  for (const method of ['PROPFIND', 'PURGE', 'LOCK', 'REPORT'])
    for (const path of ['/health/live', '/unknown/1', '/unknown/2']) await app.guest.fetch(method, path);
  const { text } = await getMetrics();
  // One series for the known path, and one for all unknown paths.
  expect(text.match(/_count\{method="other"/g)).toHaveLength(2);
});
