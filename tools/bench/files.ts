import { mkdtempSync, rmSync } from 'node:fs';
import { Agent } from 'node:http';
import { Session } from 'node:inspector/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { KEY } from './faults/servers.js';
import { ask, askJson } from './support/send.js';

/**
 * Through how many source files one request and one row of an import pass: those in which V8 counts a call (precise
 * coverage) while it is served. What other work touches meanwhile is left out: a file counts when each of several
 * measurements has it. All requests share one connection, so that opening one does not count. `npm run bench:files`
 * (builds first).
 */
const ROUNDS = 5;
const USERS = '/api/0.3/users';
const IMPORTS = '/api/0.3/imports';
const BUILD = pathToFileURL(join(process.cwd(), 'build/')).href;

interface App {
  listen(port: number, host: string): Promise<unknown>;
  getUrl(): Promise<string>;
  get(type: unknown): { run(): Promise<unknown> };
  close(): Promise<void>;
}
interface Modules {
  createApp: (env: unknown) => Promise<App>;
  loadEnv: (settings: Record<string, string>) => unknown;
  FirstStart: unknown;
  migrateAtStart: (env: unknown, entities: unknown) => Promise<void>;
  ENTITIES: unknown;
}

const built = (file: string): Promise<Modules> => import(`${BUILD}${file}.js`) as Promise<Modules>;
const connection = new Agent({ keepAlive: true, maxSockets: 1 });
const folder = mkdtempSync(join(tmpdir(), 'rollcall-files-'));
const inspector = new Session();
inspector.connect();
await inspector.post('Profiler.enable');
await inspector.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });

/** The files of the build in which a function is called while `work` runs. */
async function filesOf(work: () => Promise<unknown>): Promise<Set<string>> {
  await inspector.post('Profiler.takePreciseCoverage'); // resets the counts
  await work();
  const { result } = await inspector.post('Profiler.takePreciseCoverage');
  const called = result.filter(
    ({ url, functions }) =>
      url.startsWith(BUILD) && functions.some(({ ranges }) => (ranges[0]?.count ?? 0) > 0),
  );
  return new Set(called.map(({ url }) => url.slice(BUILD.length).replace(/js$/, 'ts')));
}

async function report(name: string, work: (round: number) => Promise<unknown>, only = ''): Promise<void> {
  await work(-1);
  let common: Set<string> | undefined;
  for (let round = 0; round < ROUNDS; round++) {
    const files = await filesOf(() => work(round));
    common = common ? new Set([...common].filter((file) => files.has(file))) : files;
  }
  const files = [...(common ?? [])].filter((file) => file.startsWith(only)).sort();
  process.stdout.write(`${name}: ${files.length} files\n${files.map((file) => `  ${file}\n`).join('')}`);
}

try {
  const { createApp } = await built('create-app');
  const { loadEnv } = await built('config/env');
  const { FirstStart } = await built('setup/first-start.service');
  const { migrateAtStart } = await built('database/data-source');
  const { ENTITIES } = await built('entities');
  const env = loadEnv({
    DATA_DIR: folder,
    LOG_LEVEL: 'info',
    BOOTSTRAP_API_KEY: KEY,
    BOOTSTRAP_WEBMASTER_PASSWORD: KEY,
  });
  await migrateAtStart(env, ENTITIES);
  const app = await createApp(env);
  await app.get(FirstStart).run();
  await app.listen(0, '127.0.0.1');
  const url = await app.getUrl();
  const person = { username: 'kim', email: 'kim@example.org' };
  const { uuid } = await askJson<{ uuid: string }>(url, { method: 'POST', path: USERS, body: person });
  const path = `${USERS}/${uuid}`;
  await report('PUT of one field', (n) =>
    ask(url, { method: 'PUT', path, body: { phone: `+44 ${n + 2}` } }, {}, connection),
  );
  await report('GET', () => ask(url, { method: 'GET', path }, {}, connection));
  /** Until the run has ended: a row is read, planned and written. */
  const imported = async (round: number): Promise<void> => {
    const name = `row${round + 2}`;
    const body = `ExternalId,Username,Email\nHR-${round + 2},${name},${name}@example.org\n`;
    const upload = { method: 'POST', path: IMPORTS, body };
    const { id } = JSON.parse(await ask(url, upload, { 'content-type': 'text/csv' }, connection)) as {
      id: string;
    };
    await ask(url, { method: 'GET', path: `${IMPORTS}/${id}/events` }, {}, connection);
  };
  await report('CSV row, of the import', imported, 'import/');
  await report('CSV row, all', imported);
  await app.close();
} finally {
  inspector.disconnect();
  connection.destroy();
  rmSync(folder, { recursive: true, force: true });
}
