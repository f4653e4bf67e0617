import type { Service } from '../faults/servers.js';
import type { BenchEngine } from '../support/engine.js';
import { cpuSeconds } from '../support/meter.js';
import { externalIdOf, usernameOf, uuidOf } from '../support/person.js';
import type { RequestOf } from '../support/requests.js';
import { ask, askJson } from '../support/send.js';

const REST = '/api/0.3';
const SCIM = '/scim/v2';
const PATCH_OP = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';
const BULK = 'urn:ietf:params:scim:api:messages:2.0:BulkRequest';

/** The same work over REST and over SCIM; at most `limit` times the CPU. */
interface Pair {
  title: string;
  rest: RequestOf;
  scim: RequestOf;
  limit: number;
  isNew?: true;
}

const rest = (path: string): ReturnType<RequestOf> => ({ method: 'GET', path: `${REST}${path}` });
const scim = (path: string): ReturnType<RequestOf> => ({ method: 'GET', path: `${SCIM}${path}` });
const patch = (path: string, ...Operations: object[]): ReturnType<RequestOf> => ({
  method: 'PATCH',
  path: `${SCIM}${path}`,
  body: { schemas: [PATCH_OP], Operations },
});

export const PAIRS: readonly Pair[] = [
  {
    title: 'read one user',
    rest: (n) => rest(`/users/${uuidOf(n)}`),
    scim: (n) => scim(`/Users/${uuidOf(n)}`),
    limit: 1.3,
  },
  {
    title: 'find by username',
    rest: (n) => rest(`/users/search?username=${usernameOf(n)}`),
    scim: (n) => scim(`/Users?filter=${encodeURIComponent(`userName eq "${usernameOf(n)}"`)}`),
    limit: 1.3,
  },
  {
    title: 'change the phone',
    rest: (n, serial) => ({
      method: 'PUT',
      path: `${REST}/users/${uuidOf(n)}`,
      body: { phone: `+44 ${serial}` },
    }),
    scim: (n, serial) =>
      patch(`/Users/${uuidOf(n)}`, {
        op: 'replace',
        path: 'phoneNumbers[type eq "work"].value',
        value: `+44 ${serial}`,
      }),
    limit: 1.3,
  },
  {
    title: 'create a user',
    rest: (n) => ({
      method: 'POST',
      path: `${REST}/users`,
      body: {
        username: usernameOf(n),
        email: `${usernameOf(n)}@example.org`,
        external_id: externalIdOf(n),
        firstname: 'Sam',
        surname: `S${n}`,
      },
    }),
    scim: (n) => ({ method: 'POST', path: `${SCIM}/Users`, body: personOf(n) }),
    limit: 1.3,
    isNew: true,
  },
];

const personOf = (n: number): object => ({
  schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
  userName: usernameOf(n),
  externalId: externalIdOf(n),
  name: { givenName: 'Sam', familyName: `S${n}` },
  emails: [{ value: `${usernameOf(n)}@example.org`, type: 'work', primary: true }],
});

/** Users a second, and for a second of CPU of the service and its database. */
export interface Rate {
  perSecond: number;
  perCpuSecond: number;
}

async function rateOf(
  engine: BenchEngine,
  { pid }: Service,
  users: number,
  work: () => Promise<unknown>,
): Promise<Rate> {
  const pids = [pid, ...engine.pids];
  const cpu = cpuSeconds(pids);
  const from = performance.now();
  await work();
  const seconds = (performance.now() - from) / 1000;
  return { perSecond: users / seconds, perCpuSecond: users / (cpuSeconds(pids) - cpu) };
}

/** One Bulk that creates users from number `first` on. @throws Error if an operation fails. */
export async function bulkCreates(
  engine: BenchEngine,
  service: Service,
  first: number,
  users: number,
): Promise<Rate> {
  const Operations = Array.from({ length: users }, (_, index) => ({
    method: 'POST',
    path: '/Users',
    bulkId: `b${index}`,
    data: personOf(first + index),
  }));
  const body = { schemas: [BULK], Operations };
  return rateOf(engine, service, users, async () => {
    const answer = await askJson<{ Operations: { status: string }[] }>(service.url, {
      method: 'POST',
      path: `${SCIM}/Bulk`,
      body,
    });
    const bad = answer.Operations.find(({ status }) => status !== '201');
    if (bad) throw new Error(`Bulk: ${JSON.stringify(bad)}`);
  });
}

/** As many single requests, some at a time. */
export async function singleCreates(
  engine: BenchEngine,
  service: Service,
  first: number,
  users: number,
  clients = 16,
): Promise<Rate> {
  let next = first;
  const client = async (): Promise<void> => {
    while (next < first + users) {
      await ask(service.url, { method: 'POST', path: `${SCIM}/Users`, body: personOf(next++) });
    }
  };
  return rateOf(engine, service, users, () => Promise.all(Array.from({ length: clients }, client)));
}

const MEMBERS_AT_ONCE = 20_000;
const member = (n: number): object => ({ value: uuidOf(n) });
const members = (from: number, until: number): object[] =>
  Array.from({ length: until - from }, (_, index) => member(from + index));

/** Makes a group of the first `size` users. @returns its id. */
export async function groupOf(service: Service, name: string, size: number): Promise<string> {
  const schemas = ['urn:ietf:params:scim:schemas:core:2.0:Group'];
  const path = `${SCIM}/Groups`;
  const first = members(0, Math.min(size, MEMBERS_AT_ONCE));
  const body = { schemas, displayName: name, members: first };
  const { id } = await askJson<{ id: string }>(service.url, { method: 'POST', path, body });
  for (let from = MEMBERS_AT_ONCE; from < size; from += MEMBERS_AT_ONCE) {
    const value = members(from, Math.min(size, from + MEMBERS_AT_ONCE));
    await ask(service.url, patch(`/Groups/${id}`, { op: 'add', path: 'members', value }));
  }
  return id;
}

/** Adds user number `n` to one of the groups. */
export const addMember =
  (groups: readonly string[]): RequestOf =>
  (n) =>
    patch(`/Groups/${groups[n % groups.length] ?? ''}`, { op: 'add', path: 'members', value: [member(n)] });
