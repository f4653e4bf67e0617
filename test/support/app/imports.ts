import { expect } from '@jest/globals';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Answer, Client, Json } from './client.js';

/** Joins lines of cells to a CSV file. */
export const csv = (...lines: string[]): string => lines.map((line) => `${line}\r\n`).join('');

/** Writes a file to the folder of a database. Returns its path. */
export function writeFile({ folder }: { folder: string }, name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

/** Uploads a file. @param query such as `dry_run=true&mode=upsert`. */
export async function upload(client: Client, file: string | Uint8Array, query = ''): Promise<Answer> {
  return client.send('POST', `/imports${query === '' ? '' : `?${query}`}`, file, {
    'content-type': 'text/csv',
  });
}

/** Waits until a run has ended or waits for an operator, which ends its event stream. Returns the run. */
export async function awaitRun(client: Client, id: string): Promise<Json> {
  await client.get(`/imports/${id}/events`);
  return readRun(client, id);
}

export const readRun = async (client: Client, id: string): Promise<Json> =>
  (await client.get(`/imports/${id}`)).body;

/** Sends a decision about a run, such as `apply` or `revert`. Returns the run that has ended or waits after it. */
export async function decide(client: Client, id: string, decision: string): Promise<Json> {
  const { status, text, body } = await client.post(`/imports/${id}/${decision}`);
  if (status !== 202) throw new Error(`${decision}: ${status} ${text}`);
  return awaitRun(client, body.id);
}

/** Reads `failed.csv` of a run. */
export const readFailed = async (client: Client, id: string): Promise<string> =>
  (await client.get(`/imports/${id}/failed.csv`)).text;

export const sendPreview = (client: Client, file: string | Uint8Array, query = ''): Promise<Answer> =>
  client.send('POST', `/imports/preview${query && `?${query}`}`, file, { 'content-type': 'text/csv' });

/** Uploads a file and waits until its run has ended or waits for an operator. Returns the run. */
export async function runImport(client: Client, file: string | Uint8Array, query = ''): Promise<Json> {
  const accepted = await upload(client, file, query);
  if (accepted.status !== 202) throw new Error(`upload: ${accepted.status} ${accepted.text}`);
  return awaitRun(client, accepted.body.id);
}

/** Reads the stored rows of a run, ordered by line. */
export async function rowsOf(client: Client, id: string, query = 'limit=100'): Promise<Json[]> {
  return (await client.get(`/imports/${id}/rows?${query}`)).body.Results;
}

/** Returns the counts of a run by outcome, without zeros. */
export function countsOf(run: Json): Record<string, number> {
  const all = Object.entries(run.counts as Record<string, number>);
  return Object.fromEntries(all.filter(([, count]) => count > 0));
}

/** Expects the state of a run, its counts without zeros, and optionally its numbers of missing users. */
export function expectRun(
  run: Json,
  state: string,
  counts: Record<string, number>,
  missing = run.missing,
): void {
  expect([run.state, countsOf(run), run.missing]).toEqual([state, counts, missing]);
}

/** Returns the code of each problem of a run. */
export const codesOf = (run: Json): string[] => run.problems.map(({ code }: Json) => code);

/** Returns the guard of a run with this name. */
export const guardOf = (run: Json, name: string): Json =>
  run.guards.find((guard: Json) => guard.name === name);

/** Finds the user with an external id. */
export async function findUser(client: Client, externalId: string): Promise<Json> {
  return (await client.get(`/users/search?external_id=${encodeURIComponent(externalId)}`)).body.Results[0];
}
