import { createWriteStream, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { sampleLines } from '../../../samples/generate.js';
import type { Service } from '../../servers.js';
import { readCpu } from './meter.js';
import type { Spent } from './run-baseline.js';
import { fetchText, fetchJson } from './send.js';

const API = '/api/0.3/imports';

/** A CSV file of fictional users. */
export interface UserFile {
  path: string;
  text: string;
  rows: number;
}

/** Writes a file of users. @param changed the percentage of users that differ from the unchanged file. */
export async function writeUserFile(folder: string, rows: number, changed = 0): Promise<UserFile> {
  const path = join(folder, `users-${rows}-${changed}.csv`);
  await pipeline(Readable.from(sampleLines({ rows, seed: 1, changed })), createWriteStream(path));
  return { path, text: readFileSync(path, 'utf8'), rows };
}

interface Run {
  id: string;
  state: string;
  counts: Record<string, number> | null;
}

/**
 * Imports a file and measures from the first byte of the upload to the end of the run.
 * @param pids the processes whose CPU time counts: the service and the database server.
 * @param expected the numbers of rows by outcome.
 * @throws Error if the run ends in another state or with other numbers.
 */
export async function importFile(
  service: Service,
  { text }: UserFile,
  { pids, expected }: { pids: readonly number[]; expected: Record<string, number> },
): Promise<Spent> {
  const cpu = readCpu(pids);
  const from = performance.now();
  const upload = { method: 'POST', path: API, body: text };
  const { id } = JSON.parse(await fetchText(service.url, upload, { 'content-type': 'text/csv' })) as Run;
  await fetchText(service.url, { method: 'GET', path: `${API}/${id}/events` }); // the event stream ends with the run
  const spent = { seconds: (performance.now() - from) / 1000, cpuSeconds: readCpu(pids) - cpu };
  const run = await fetchJson<Run>(service.url, { method: 'GET', path: `${API}/${id}` });
  const isAsExpected = Object.entries(expected).every(([outcome, count]) => run.counts?.[outcome] === count);
  if (run.state !== 'completed' || !isAsExpected)
    throw new Error(`import: ${run.state} ${JSON.stringify(run.counts)}, not ${JSON.stringify(expected)}`);
  return spent;
}
