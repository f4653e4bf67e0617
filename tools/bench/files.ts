import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { Agent } from 'node:http';
import { Session } from 'node:inspector/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { KEY } from '../servers.js';
import { fetchText, fetchJson } from './support/send.js';

/**
 * `npm run bench:files` (builds first): lists the source files that one request and one row of an import pass through,
 * and counts the lines of the functions that run, by the precise coverage of V8. Only files that appear in each of
 * several measurements count, which excludes timers and other requests. All requests share one connection, so that
 * opening it does not count.
 */
const ROUNDS = 5;
const USERS = '/api/0.3/users';
const IMPORTS = '/api/0.3/imports';
const BUILD = pathToFileURL(join(process.cwd(), 'build/')).href;

interface App {
  listen(port: number, host: string): Promise<unknown>;
  getUrl(): Promise<string>;
  get(type: unknown): { createCredentials(): Promise<unknown> };
  close(): Promise<void>;
}
interface Modules {
  createApp: (env: unknown) => Promise<App>;
  loadEnv: (settings: Record<string, string>) => unknown;
  FirstStart: unknown;
  migrateAtStart: (env: unknown, entities: unknown) => Promise<void>;
  ENTITIES: unknown;
}

const loadBuilt = (file: string): Promise<Modules> => import(`${BUILD}${file}.js`) as Promise<Modules>;
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

interface Range {
  startOffset: number;
  endOffset: number;
  count: number;
}

const sources = new Map<string, string>();
function readSource(url: string): string {
  const source = sources.get(url) ?? readFileSync(fileURLToPath(url), 'utf8');
  sources.set(url, source);
  return source;
}

/** Counts the lines with code of the functions that ran, without inner functions that did not run. */
function countLines(source: string, ranges: Range[]): number {
  const ran = new Uint8Array(source.length);
  for (const { startOffset, endOffset, count } of ranges) ran.fill(count > 0 ? 1 : 0, startOffset, endOffset);
  let lines = 0;
  let start = 0;
  for (const line of source.split('\n')) {
    const code = /^\s*(?!\s|\/\/|\*|\/\*|$)/.exec(line);
    if (code && ran.subarray(start + code[0].length, start + line.length).includes(1)) lines++;
    start += line.length + 1;
  }
  return lines;
}

/** Returns the files of the build in which a function is called during `work`, with the number of lines that ran. */
async function measureFiles(work: () => Promise<unknown>): Promise<Map<string, number>> {
  await inspector.post('Profiler.takePreciseCoverage'); // resets the counts
  await work();
  const { result } = await inspector.post('Profiler.takePreciseCoverage');
  const called = new Map<string, number>();
  for (const { url, functions } of result) {
    const ranges = functions.flatMap(({ ranges: [whole] }) => (whole ? [whole] : []));
    if (!url.startsWith(BUILD) || !ranges.some(({ count }) => count > 0)) continue;
    ranges.sort((a, b) => a.startOffset - b.startOffset || b.endOffset - a.endOffset); // outer functions first
    called.set(url.slice(BUILD.length).replace(/js$/, 'ts'), countLines(readSource(url), ranges));
  }
  return called;
}

async function report(name: string, work: (round: number) => Promise<unknown>): Promise<void> {
  await work(-1);
  let common: Map<string, number> | undefined;
  for (let round = 0; round < ROUNDS; round++) {
    const files = await measureFiles(() => work(round));
    const seen = common ?? files;
    common = new Map(
      [...seen].flatMap(([file, lines]) => {
        const now = files.get(file);
        return now === undefined ? [] : [[file, Math.min(lines, now)] as const];
      }),
    );
  }
  const files = [...(common ?? [])].sort();
  const lines = files.reduce((sum, [, count]) => sum + count, 0);
  const list = files.map(([file, count]) => `  ${String(count).padStart(4)} ${file}\n`).join('');
  process.stdout.write(`${name}: ${files.length} files, ${lines} lines that run\n${list}`);
}

try {
  const { createApp } = await loadBuilt('create-app');
  const { loadEnv } = await loadBuilt('platform/config/env');
  const { FirstStart } = await loadBuilt('operations/start/first-start.service');
  const { migrateAtStart } = await loadBuilt('platform/database/data-source');
  const { ENTITIES } = await loadBuilt('entities');
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
