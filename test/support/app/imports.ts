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
  return (await client.get(`/imports/${id}`)).body;
}

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

/** Finds the user with an external id. */
export async function findUser(client: Client, externalId: string): Promise<Json> {
  return (await client.get(`/users/search?external_id=${encodeURIComponent(externalId)}`)).body.Results[0];
}
