import { Agent } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { KEY, type Service } from '../faults/servers.js';
import { send } from '../faults/load.js';
import { PASSWORD } from '../support/password.js';
import { usernameOf, uuidOf } from '../support/person.js';

const API = '/api/0.3';
const LOGIN = `${API}/sessions/login`;
export const USER_PATH = `${API}/users/${uuidOf(5)}`;

/** How often each status was answered. */
type Answers = Map<string, number>;

/** Work that one client, or many, load a service with for some seconds. */
export interface Attack {
  title: string;
  /** Makes what the attack needs, before anything is measured. */
  prepare?: (service: Service) => Promise<string>;
  /** Resolves soon after `stop`. @param prepared what `prepare` has made. */
  run(service: Service, stop: AbortSignal, answers: Answers, prepared?: string): Promise<void>;
}

function count(answers: Answers, status: string): void {
  answers.set(status, (answers.get(status) ?? 0) + 1);
}

type Parts = [method: string, path: string, body: string | undefined, headers: Record<string, string>];

/** So many clients, each of which sends its next request when it has the answer. */
async function repeat(
  { url }: Service,
  stop: AbortSignal,
  answers: Answers,
  clients: number,
  next: () => Parts,
): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: clients });
  stop.addEventListener('abort', () => {
    agent.destroy();
  });
  const one = async (): Promise<void> => {
    while (!stop.aborted) {
      const [method, path, body, headers] = next();
      const answer = await send(url, method, path, body, { agent, headers }).catch(() => undefined);
      count(answers, String(answer?.status ?? 'none'));
    }
  };
  await Promise.all(Array.from({ length: clients }, one));
}

/** So many connections that send this and then a byte a second, or nothing more where `drip` is empty. */
async function hold(
  { url }: Service,
  stop: AbortSignal,
  answers: Answers,
  connections: number,
  first: string | Buffer,
  drip: string,
): Promise<void> {
  const { hostname, port } = new URL(url);
  const sockets = Array.from({ length: connections }, () => {
    const socket = connect(Number(port), hostname, () => socket.write(first));
    socket.on('data', (chunk: Buffer) => {
      count(answers, chunk.toString('latin1', 9, 12));
    });
    socket.on('error', () => {
      count(answers, 'reset');
    });
    return socket;
  });
  while (!stop.aborted) {
    await delay(1000, undefined, { signal: stop }).catch(() => undefined);
    if (drip !== '') for (const socket of sockets) if (socket.writable) socket.write(drip);
  }
  const closed = sockets.filter(({ destroyed, readableEnded }) => destroyed || readableEnded).length;
  answers.set('connections closed', closed);
  for (const socket of sockets) socket.destroy();
}

const head = (path: string, ...lines: string[]): string =>
  [`POST ${path} HTTP/1.1`, 'Host: x', 'Content-Type: application/json', ...lines, '', ''].join('\r\n');

/** The cookie of a member. */
async function logIn({ url }: Service): Promise<string> {
  const body = JSON.stringify({ username: usernameOf(7), password: PASSWORD });
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(url + LOGIN, { method: 'POST', headers, body });
  return answer.headers.get('set-cookie')?.split(';', 1)[0] ?? '';
}

const asMember = (cookie = ''): Record<string, string> => ({ cookie, 'x-request-id': 'member' });
const unfinished = (): Buffer => gzipSync('x'.repeat(1024 * 1024)).subarray(0, 1000);
const marks = gzipSync(JSON.stringify({ username: `a${'\u0301'.repeat(500_000)}`, password: PASSWORD }));
const unknownKeys = JSON.stringify(
  Object.fromEntries(Array.from({ length: 85_000 }, (_, each) => [`k${each}`, 1])),
);
const manyMethods = JSON.stringify({
  authname: Object.fromEntries(Array.from({ length: 62_000 }, (_, each) => [`m${each}`, ['x']])),
});

/** Sends what the server takes as a member: without the key that `send` adds. */
async function memberRequests(
  { url }: Service,
  stop: AbortSignal,
  answers: Answers,
  clients: number,
  path: string,
  options: { method: string; headers: Record<string, string>; body?: string | Buffer },
): Promise<void> {
  const one = async (): Promise<void> => {
    while (!stop.aborted) {
      const sent = { ...options, signal: stop };
      const answer = await fetch(url + path, sent).catch(() => undefined);
      await answer?.arrayBuffer().catch(() => undefined);
      count(answers, String(answer?.status ?? 'none'));
    }
  };
  await Promise.all(Array.from({ length: clients }, one));
}

const PREFIXES = encodeURIComponent(Array.from('abcdefghij', (letter) => `${letter}*`).join(' '));
const JSON_TYPE = { 'content-type': 'application/json' };

export const ATTACKS: Readonly<Record<string, Attack>> = {
  prefixes: {
    title: 'four members search ten one-letter prefixes',
    prepare: logIn,
    run: (service, stop, answers, cookie) =>
      memberRequests(service, stop, answers, 4, `${API}/users/search?fulltext_search=${PREFIXES}`, {
        method: 'GET',
        headers: asMember(cookie),
      }),
  },
  gzip: {
    title: '2,000 unfinished gzip bodies to login',
    run: (service, stop, answers) => {
      const first = Buffer.concat([
        Buffer.from(head(LOGIN, 'Content-Encoding: gzip', 'Content-Length: 2000')),
        unfinished(),
      ]);
      return hold(service, stop, answers, 2000, first, '');
    },
  },
  marks: {
    title: 'logins with a megabyte of combining marks',
    run: (service, stop, answers) =>
      memberRequests(service, stop, answers, 4, LOGIN, {
        method: 'POST',
        headers: { ...JSON_TYPE, 'content-encoding': 'gzip' },
        body: marks,
      }),
  },
  keys: {
    title: 'logins with 85,000 unknown keys',
    run: (service, stop, answers) =>
      memberRequests(service, stop, answers, 4, LOGIN, {
        method: 'POST',
        headers: JSON_TYPE,
        body: unknownKeys,
      }),
  },
  methods: {
    title: "a member's PUT with 62,000 authname methods",
    prepare: logIn,
    run: (service, stop, answers, cookie) =>
      memberRequests(service, stop, answers, 4, `${API}/users/${uuidOf(7)}`, {
        method: 'PUT',
        headers: { ...JSON_TYPE, ...asMember(cookie) },
        body: manyMethods,
      }),
  },
  logins: {
    title: '120 connections log in as one user',
    run: (service, stop, answers) =>
      repeat(service, stop, answers, 120, () => [
        'POST',
        LOGIN,
        JSON.stringify({ username: usernameOf(9), password: PASSWORD }),
        {},
      ]),
  },
  drip: {
    title: '500 refused bodies that drip',
    run: (service, stop, answers) =>
      hold(
        service,
        stop,
        answers,
        500,
        head(`${API}/users`, 'X-API-Key: no-key', 'Content-Length: 100000'),
        'x',
      ),
  },
  headers: {
    title: '500 connections with slow headers',
    run: (service, stop, answers) =>
      hold(service, stop, answers, 500, `GET ${USER_PATH} HTTP/1.1\r\nX-API-Key: ${KEY}\r\nX-A: `, 'x'),
  },
};
