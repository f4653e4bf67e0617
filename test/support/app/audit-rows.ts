import { DATABASE, type Database } from '../../../src/platform/database/engine/database.js';
import type { TestApp } from './app.js';
import type { Answer, Client, Json } from './client.js';
import { nextOf } from './search.js';

interface AuditRow {
  action: string;
  ip: string;
  changes: string;
}

/** Reads the audit rows of a user from the table, oldest first. */
export async function readAuditRows({ app }: TestApp, userUuid: string): Promise<AuditRow[]> {
  return app
    .get<Database>(DATABASE)
    .query<AuditRow>('SELECT action, changes, ip FROM audit_events WHERE target_id = ? ORDER BY id', [
      userUuid,
    ]);
}

/** Lists the audit events of a user or group through the API, oldest first. Returns at most 100 events. */
export const listEvents = async (client: Client, { uuid }: { uuid: string }): Promise<Json[]> =>
  (await client.get(`/audit?limit=100&target=${uuid}`)).body.Results.toReversed();

/** Reads the audit page by page, following the `Link` headers. Returns the rows of each page. */
export async function readAuditPages(client: Client, first: string): Promise<Json[][]> {
  const pages: Json[][] = [];
  for (let path: string | undefined = first; path !== undefined;) {
    const page: Answer = await client.get(path);
    if (page.status !== 200) throw new Error(page.text);
    pages.push(page.body.Results);
    path = nextOf(page);
  }
  return pages;
}
