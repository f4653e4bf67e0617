import { DatabaseSync } from 'node:sqlite';
import type { Program } from '../../servers.js';
import { PHONE, externalIdOf } from './person.js';
import type { RequestOf } from './requests.js';
import { fetchJson } from './send.js';

interface Server extends Program {
  url: string;
}
interface User {
  uuid: string;
  phone: string;
}
interface Page {
  Count: number;
  Results: User[];
}

/**
 * Checks that a baseline does the same work as the service: it must find the same rows, and write the rows that the
 * service would write.
 * @param url database of the baseline.
 * @throws Error if the results differ.
 */
export async function assertSameWork(
  service: Server,
  baseline: Server,
  request: ReturnType<RequestOf>,
  url: string,
): Promise<void> {
  const found = await fetchJson<User | Page>(baseline.url, request);
  const [expected, actual] =
    request.method === 'GET'
      ? [formatFound(await fetchJson<User | Page>(service.url, request)), formatFound(found)]
      : ['1 user with a changed phone', await findWritten(service, request, url)];
  if (actual !== expected)
    throw new Error(`${request.path}: the baseline found ${actual} instead of ${expected}`);
}

const formatFound = (found: User | Page): string =>
  'Results' in found
    ? `${found.Count}: ${found.Results.map(({ uuid }) => uuid)
        .slice(0, 25)
        .join()}`
    : found.uuid;

async function findWritten(
  service: Server,
  { path: sent, body }: ReturnType<RequestOf>,
  url: string,
): Promise<string> {
  const about = (body as { username?: string }).username ?? sent;
  const externalId = externalIdOf(Number(/\d+$/.exec(about)?.[0]));
  const path = `/api/0.3/users/search?external_id=${externalId}`;
  const users = url.startsWith('sqlite:')
    ? readUsers(url.slice('sqlite:'.length), externalId)
    : (await fetchJson<Page>(service.url, { method: 'GET', path })).Results;
  return `${users.length} user with ${users[0]?.phone === PHONE ? 'an unchanged' : 'a changed'} phone`;
}

function readUsers(file: string, externalId: string): User[] {
  const database = new DatabaseSync(file);
  const users = database.prepare('SELECT uuid, phone FROM users WHERE external_id = ?').all(externalId);
  database.close();
  return users.map(({ uuid, phone }) => ({ uuid: String(uuid), phone: String(phone) }));
}
