import { Agent } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { type Answer, send } from '../../send.js';
import { KEY, Service } from '../../servers.js';
import { uuidOf } from '../support/person.js';
import type { Absolute } from '../support/results.js';
import { readMemory, resetPeakMemory } from '../support/meter.js';
import { medianOf } from '../support/statistics.js';
import type { Context } from './context.js';

/** A request that would hold up other requests if a limit were missing. */
export interface StallCase {
  name: string;
  send: (base: string, key: string) => Promise<unknown>;
}

const AT_MOST_MILLIS = 100;
/** Maximum growth of the memory of the service in MiB. */
const AT_MOST_GROWTH = 64;
const PAUSE_MILLIS = 5;
const TIMEOUT = 120_000;
const USERS = '/scim/v2/Users';
const GROUPS = '/scim/v2/Groups';
const PREVIEW = '/api/0.3/imports/preview';
const GROUP_ROLES = 'urn:ietf:params:scim:schemas:extension:rollcall:2.0:Group:roles';

/**
 * Sends the request. Returns the longest time that a health check or a read of a user takes meanwhile, in milliseconds.
 * @param now the clock in milliseconds
 */
export async function measureStall(
  { send: sendCase }: StallCase,
  base: string,
  key: string,
  user: string,
  now = () => performance.now(),
): Promise<number> {
  let longest = 0;
  let isOver = false;
  const probe = async (path: string): Promise<void> => {
    const agent = new Agent({ keepAlive: true });
    while (!isOver) {
      const from = now();
      await send(base, 'GET', path, undefined, { agent, headers: { 'x-api-key': key } });
      longest = Math.max(longest, now() - from);
      await delay(PAUSE_MILLIS);
    }
  };
  const probes = ['/health/live', `/api/0.3/users/${user}`].map(probe);
  await sendCase(base, key).finally(() => {
    isOver = true;
  });
  await Promise.all(probes);
  return longest;
}

/**
 * Creates a case with one request. The body is built early, because building it takes time too.
 * @param body JSON, or the text of a CSV file.
 */
function request(name: string, method: string, path: string, body?: object | string): StallCase {
  const bytes = body && Buffer.from(typeof body === 'object' ? JSON.stringify(body) : body);
  const type = typeof body === 'string' && { 'content-type': 'text/csv' };
  const sendCase = (base: string, key: string) =>
    send(base, method, path, bytes, { headers: { 'x-api-key': key, ...type }, timeout: TIMEOUT });
  return { name, send: sendCase };
}

/** Creates a case that sends a text on one connection, without waiting for responses. */
function raw(name: string, toText: (key: string) => string): StallCase {
  const sendCase = async (base: string, key: string) => {
    const { hostname, port } = new URL(base);
    const socket = connect(Number(port), hostname).resume();
    socket.on('error', () => undefined); // the service may reset the connection
    socket.write(toText(key));
    await new Promise((resolve) => socket.once('close', resolve));
  };
  return { name, send: sendCase };
}

function pipeline(name: string, count: number): StallCase {
  const line = 'GET /unknown HTTP/1.1\r\nHost: x\r\n';
  return raw(name, () => `${line}\r\n`.repeat(count - 1) + `${line}Connection: close\r\n\r\n`);
}

function sendSmallChunks(name: string, path: string): StallCase {
  const head = `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: text/csv\r\nConnection: close\r\n`;
  const body = `Transfer-Encoding: chunked\r\n\r\n${'1\r\n \r\n'.repeat(300_000)}0\r\n\r\n`;
  return raw(name, (key) => `${head}X-API-Key: ${key}\r\n${body}`);
}

/** Creates a case that creates a group with these members, sends requests to it, and deletes it. */
function changeGroup(
  name: string,
  ids: readonly string[],
  ...changes: [method: string, body?: object][]
): StallCase {
  const displayName = `Stall ${Math.random()}`;
  const creation = request(name, 'POST', `${GROUPS}?attributes=id`, { displayName, members: ids });
  const sendCase = async (base: string, key: string) => {
    const created = (await creation.send(base, key)) as Answer;
    const path = `${GROUPS}/${(JSON.parse(created.text) as { id: string }).id}`;
    for (const [method, body] of [...changes, ['DELETE'] as const])
      await request(name, method, path, body && { displayName, ...body }).send(base, key);
  };
  return { name, send: sendCase };
}

const repeat = <T>(count: number, build: (n: number) => T): T[] =>
  Array.from({ length: count }, (_, n) => build(n));
const names = (count: number, value: unknown, prefix = 'name') =>
  Object.fromEntries(repeat(count, (n) => [`${prefix}${n}`, value]));

/**
 * Lists the cases. Most exceed the limit of a long or repeated field about tenfold, or as far as the limit of the body
 * allows. `test/http/header-cost.e2e-spec.ts` measures headers and queries.
 * @param users ids of existing users
 */
export function listStallCases(users: readonly string[]): StallCase[] {
  const [user = ''] = users;
  const unknown = repeat(60_000, (n) => `01900000-0000-7000-9000-${String(n).padStart(12, '0')}`);
  const toRefs = (ids: readonly string[]) => ids.map((value) => ({ value }));
  const patch = (name: string, ...Operations: object[]) =>
    request(`PATCH of a user: ${name}`, 'PATCH', `${USERS}/${user}`, { Operations });
  const put = (name: string, body: object) =>
    request(`PUT of a user: ${name}`, 'PUT', `${USERS}/${user}`, { userName: 'stall', ...body });
  const bulk = (name: string, ...Operations: object[]) =>
    request(`Bulk: ${name}`, 'POST', '/scim/v2/Bulk', { Operations });
  const preview = (name: string, rows: number, columns: number, length: number) => {
    const row = repeat(columns, (n) => `${n}`.padStart(length, 'abcdefghij')).join(',');
    return request(`preview: ${name}`, 'POST', PREVIEW, `${row}\n`.repeat(rows + 1));
  };
  const sendQuotes = (name: string, rows: string) =>
    request(`preview: ${name}`, 'POST', PREVIEW, `ExternalId,AboutMe\n${rows}`);
  const add = (path: string, value: unknown) => ({ op: 'add', path, value });
  const some = (n: number) => add('members', toRefs(unknown.slice(n * 60, n * 60 + 60)));
  const lost = {
    op: 'remove',
    path: 'ims',
    value: [{ value: 'x' }, { type: 'x' }, { display: 'x', type: 'x' }],
  };
  const onUser = (n: number, op: object) => ({
    method: 'PATCH',
    path: `/Users/${user}`,
    bulkId: `${n}`,
    data: [op],
  });
  const longTexts = repeat(50, (n) => `${n}${'é'.repeat(250)}`);
  const lists = ['attributes', 'excludedAttributes', 'filter', 'sortBy', 'sortOrder', 'cursor'];
  const fields = ['username', 'about_me', 'authname', 'roles', 'social_media'];
  const values = [
    repeat(19_000, String),
    names(7900, ['x']),
    { saml: repeat(19_000, String) },
    'ä'.repeat(5e5),
  ];
  return [
    ...lists.map((name) =>
      request(`${name} of 1 MB`, 'POST', '/scim/v2/.search', { [name]: 'a,'.repeat(5e5) }),
    ),
    request('19000 attributes', 'POST', `${USERS}/.search`, { attributes: repeat(19_000, String) }),
    patch('15 unknown attributes 1000 times', ...repeat(1000, () => ({ op: 'add', value: names(15, 'x') }))),
    patch('7900 unknown attributes', { op: 'add', value: names(7900, 'x') }),
    patch('1000 long paths', ...repeat(1000, () => ({ op: 'remove', path: `emails[${'('.repeat(990)}]` }))),
    patch('50 elements', add('ims', toRefs(longTexts)), ...repeat(990, () => lost)),
    put('7900 unknown attributes', names(7900, 1)),
    put('19000 emails', { emails: repeat(19_000, (n) => `${n}@x.org`) }),
    ...fields.flatMap((field) =>
      values.map((value, n) => request(`${field} ${n}`, 'PUT', `/api/0.3/users/${user}`, { [field]: value })),
    ),
    request('7900 unknown fields', 'PUT', `/api/0.3/users/${user}`, names(7900, 1)),
    request('19000 networks', 'POST', '/api/0.3/api_keys', {
      name: 'x',
      networks: repeat(19_000, () => '::1'),
    }),
    request('7900 columns', 'PUT', '/api/0.3/import_profiles/x', { columns: names(7900, 'ignore') }),
    changeGroup('60000 unknown members', unknown, ['PATCH', { Operations: repeat(1000, some) }]),
    changeGroup(
      `${users.length} members`,
      users,
      ['GET'],
      ['PATCH', { Operations: [add('externalId', 'stall'), add(GROUP_ROLES, [{ value: 'Editor' }])] }],
      ['PATCH', { Operations: [{ op: 'remove', path: 'members[value ew "1"]' }] }],
      ['PUT', { members: [] }],
      ['PUT', { members: users }],
    ),
    bulk('10000 operations', ...repeat(10_000, (n) => onUser(n, lost))),
    bulk('100 names 1000 times', ...repeat(1000, (n) => ({ data: names(100, 1, `x${n}.`) }))),
    bulk('60000 references', {
      method: 'POST',
      path: '/Groups',
      data: toRefs(repeat(60_000, (n) => `bulkId:${n}`)),
    }),
    bulk('a version of 2 MB', { ...onUser(1, lost), version: '"1",'.repeat(5e5) }),
    bulk(
      '60 members 1000 times',
      ...repeat(1000, (n) => ({ ...onUser(n, some(n)), path: `/Groups/${user}` })),
    ),
    preview('20000 columns', 1, 20_000, 6),
    preview('100 rows of 3000 columns', 100, 3000, 3),
    preview('190 long column names', 1, 190, 60),
    preview('100 rows of 1 MiB', 100, 200, 50),
    sendQuotes('a quoted cell without end', `1,"${'""'.repeat(5e5)}`),
    sendQuotes('lines of quotes', '1,""""\n'.repeat(150_000)),
    request('the OpenAPI file', 'GET', '/docs/openapi.json'),
    request('Swagger UI', 'GET', '/docs/swagger-ui-init.js'),
    pipeline('100 requests at once', 100),
    pipeline('2300 requests at once', 2300),
    sendSmallChunks('300000 chunks of an upload', PREVIEW),
    sendSmallChunks('300000 chunks of a refused body', '/unknown'),
    bulk('200 changes of a user', ...repeat(200, (n) => onUser(n, add('title', `${n}`)))),
  ];
}

/** Measures each case on a seeded database. Run it on a quiet machine. */
export async function measureStalls({
  engine,
  cores,
  effort,
  url,
  users,
  log,
}: Context): Promise<Absolute[]> {
  const service = await Service.create({ DATABASE_URL: url }, undefined, cores.computing);
  const results: Absolute[] = [];
  const file = `ExternalId,AboutMe\n${`1,${'x'.repeat(1000)}\n`.repeat(90_000)}`;
  const upload = request('upload of 90 MB', 'POST', '/api/0.3/imports?dry_run=true', file);
  for (const each of [upload, ...listStallCases(repeat(users, uuidOf))]) {
    const millis: number[] = [];
    const growths: number[] = [];
    for (let round = 0; round < effort.rounds; round++) {
      resetPeakMemory(service.pid);
      const before = readMemory(service.pid).now;
      millis.push(await measureStall(each, service.url, KEY, uuidOf(1)));
      growths.push(readMemory(service.pid).peak - before);
    }
    const add = (name: string, unit: Absolute['unit'], values: number[], atMost: number): void => {
      const value = medianOf(values);
      log(`${name} during ${each.name}: ${value.toFixed(0)} ${unit}`);
      results.push({ case: `${name}: ${each.name}`, engine: engine.name, value, unit, atMost });
    };
    add('longest wait', 'ms', millis, AT_MOST_MILLIS);
    add('memory growth', 'MiB', growths, AT_MOST_GROWTH);
  }
  await service.remove();
  return results;
}
