import { mkdtempSync, rmSync } from 'node:fs';
import { Agent } from 'node:http';
import { Session } from 'node:inspector/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type * as CreateApp from '../../src/create-app.js';
import type * as Entities from '../../src/entities.js';
import type * as Start from '../../src/operations/start/first-start.service.js';
import type * as Env from '../../src/platform/config/env.js';
import type * as DataSource from '../../src/platform/database/data-source.js';
import { KEY } from '../servers.js';
import { fetchText, fetchJson } from './support/send.js';

/**
 * `npm run bench:files` (builds first): lists the source files that one request and one row of an import pass through, by
 * the precise coverage of V8. Only files that appear in each of several measurements count, which excludes timers and
 * other requests. All requests share one connection, so that
 * opening it does not count.
 */
const ROUNDS = 5;
const USERS = '/api/0.3/users';
const IMPORTS = '/api/0.3/imports';
const BUILD = pathToFileURL(join(process.cwd(), 'build/')).href;

/** Loads a module of the build, with the types of its source. */
const loadBuilt = <Module>(file: string): Promise<Module> => import(`${BUILD}${file}.js`) as Promise<Module>;
/** Builds the body of a SCIM PATCH that replaces the work phone. */
const patchOf = (value: string): object => ({
  schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
  Operations: [{ op: 'replace', path: 'phoneNumbers[type eq "work"].value', value }],
});
const connection = new Agent({ keepAlive: true, maxSockets: 1 });
const folder = mkdtempSync(join(tmpdir(), 'rollcall-files-'));
const inspector = new Session();
inspector.connect();
await inspector.post('Profiler.enable');
await inspector.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });

/** Returns the files of the build in which a function is called during `work`. */
async function measureFiles(work: () => Promise<unknown>): Promise<Set<string>> {
  await inspector.post('Profiler.takePreciseCoverage'); // resets the counts
  await work();
  const { result } = await inspector.post('Profiler.takePreciseCoverage');
  const called = result.filter(
    ({ url, functions }) =>
      url.startsWith(BUILD) && functions.some(({ ranges: [whole] }) => whole && whole.count > 0),
  );
  return new Set(called.map(({ url }) => url.slice(BUILD.length).replace(/js$/, 'ts')));
}

async function report(name: string, work: (round: number) => Promise<unknown>): Promise<void> {
  await work(-1);
  let common = await measureFiles(() => work(0));
  for (let round = 1; round < ROUNDS; round++) {
    const files = await measureFiles(() => work(round));
    common = new Set([...common].filter((file) => files.has(file)));
  }
  const list = [...common].sort().map((file) => `  ${file}\n`);
  process.stdout.write(`${name}: ${list.length} files\n${list.join('')}`);
}

try {
  const { createApp } = await loadBuilt<typeof CreateApp>('create-app');
  const { loadEnv } = await loadBuilt<typeof Env>('platform/config/env');
  const { FirstStart } = await loadBuilt<typeof Start>('operations/start/first-start.service');
  const { migrateAtStart } = await loadBuilt<typeof DataSource>('platform/database/data-source');
  const { ENTITIES } = await loadBuilt<typeof Entities>('entities');
  const env = loadEnv({
    DATA_DIR: folder,
    LOG_LEVEL: 'info',
    BOOTSTRAP_API_KEY: KEY,
    BOOTSTRAP_WEBMASTER_PASSWORD: KEY,
  });
  await migrateAtStart(env, ENTITIES);
  const app = await createApp(env);
  await app.get(FirstStart).createCredentials();
  await app.listen(0, '127.0.0.1');
  const url = await app.getUrl();
  const person = { username: 'kim', email: 'kim@example.org' };
  const { uuid } = await fetchJson<{ uuid: string }>(url, { method: 'POST', path: USERS, body: person });
  const path = `${USERS}/${uuid}`;
  await report('PUT of one field', (n) =>
    fetchText(url, { method: 'PUT', path, body: { phone: `+44 ${n + 2}` } }, {}, connection),
  );
  const patch = { method: 'PATCH', path: `/scim/v2/Users/${uuid}` };
  await report('SCIM PATCH of one attribute', (n) =>
    fetchText(url, { ...patch, body: patchOf(`+45 ${n + 2}`) }, {}, connection),
  );
  await report('GET', () => fetchText(url, { method: 'GET', path }, {}, connection));
  /** Imports a file of one row and waits until the run has ended. */
  const importRow = async (name: string): Promise<void> => {
    const body = `ExternalId,Username,Email\nHR-${name},${name},${name}@example.org\n`;
    const upload = { method: 'POST', path: IMPORTS, body };
    const { id } = JSON.parse(await fetchText(url, upload, { 'content-type': 'text/csv' }, connection)) as {
      id: string;
    };
    await fetchText(url, { method: 'GET', path: `${IMPORTS}/${id}/events` }, {}, connection);
  };
  await report('CSV row, unchanged', () => importRow('same')); // the first call is not measured and creates the user
  await report('CSV row, written', (n) => importRow(`row${n + 2}`));
  await app.close();
} finally {
  inspector.disconnect();
  connection.destroy();
  rmSync(folder, { recursive: true, force: true });
}
