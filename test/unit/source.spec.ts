import { expect, test } from '@jest/globals';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const SRC = new URL('../../src/', import.meta.url).pathname;
const sources = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => ({ file, text: readFileSync(join(SRC, file), 'utf8') }));

/** The files below src that hold a line that matches. */
const filesWith = (pattern: RegExp): string[] =>
  sources
    .filter(({ text }) => pattern.test(text))
    .map(({ file }) => file)
    .sort();

test('no text becomes code', () => {
  expect(filesWith(/\beval\(|new Function\(|from 'node:vm'|Function\(['"`]/)).toEqual([]);
});

/** Sends alerts to where the operator's settings say. */
const ALERTS = 'import/alerts/alert-sender.service.ts';
const OWN_PROGRAMS = ['platform/database/engine/worker-process.ts'];

test('the only other programs that run are those of the service itself and NOTIFY_COMMAND, without a shell', () => {
  expect(filesWith(/node:child_process|node:worker_threads/)).toEqual([ALERTS, ...OWN_PROGRAMS]);
  const imported = (file: string): string | undefined => {
    const text = sources.find((source) => source.file === file)?.text ?? '';
    return /import \{(.*)\} from 'node:child_process'/.exec(text)?.[1];
  };
  for (const file of OWN_PROGRAMS) expect(imported(file)).toMatch(/^( type ChildProcess,)? fork $/);
  expect(imported(ALERTS)).toBe(' spawn ');
  expect(filesWith(/\bshell:/)).toEqual([]);
});

/** Commands of an operator that talk to a service: at `--url`, or at its private socket. */
const CLIENT = 'cli/service-client.ts';
const REPLAY = 'cli/replays/replay-run.ts';
const SOCKET = 'operations/start/private-socket.ts';

test('nothing but the database, NOTIFY_URL and the service of a command is connected to', () => {
  const fetches = filesWith(/\bfetch\(|node:dgram|node:http2|from '(undici|axios|got)'/);
  expect(fetches.toSorted()).toEqual([REPLAY, ALERTS].toSorted());
  expect(
    filesWith(/import \{[^}]*\b(request|get|connect|createConnection)\b[^}]*\} from 'node:(https?|net|tls)'/),
  ).toEqual([CLIENT, SOCKET]);
  // The service itself never does that.
  expect(filesWith(/service-client\.js'/).filter((file) => !file.startsWith('cli/'))).toEqual([]);
  expect(filesWith(/replay-run\.js'/)).toEqual(['cli/doctor-scim.command.ts']);
});

test('hashes are SHA-256 or argon2id, and random secrets come from the system', () => {
  const named = sources.flatMap(({ text }) =>
    [...text.matchAll(/\b(?:createHash|createHmac|hash)\('([\w-]+)'/g)].map(([, name]) => name),
  );
  expect(new Set(named)).toEqual(new Set(['sha256']));
  // Waiting times, which need not be secret.
  expect(filesWith(/Math\.random/)).toEqual([
    'platform/database/engine/database-error.ts',
    'platform/database/migrate.ts',
  ]);
});

test('no origin is ever allowed (CORS)', () => {
  expect(filesWith(/Access-Control-|enableCors|from 'cors'/i)).toEqual([]);
});

test('browsers store nothing for the service, except an entered API key for the tab of Swagger UI', () => {
  expect(filesWith(/localStorage|sessionStorage|indexedDB|persistAuthorization/)).toEqual([]);
  const script = readFileSync(join(SRC, 'docs-script.mjs'), 'utf8');
  expect(script.match(/(localStorage|sessionStorage|indexedDB|document\.cookie)\.\w+\(\w+/g)).toEqual([
    'sessionStorage.getItem(STORAGE_KEY',
    'sessionStorage.getItem(STORAGE_KEY',
    'sessionStorage.removeItem(STORAGE_KEY',
    'sessionStorage.setItem(STORAGE_KEY',
  ]);
});
