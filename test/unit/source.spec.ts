import { expect, test } from '@jest/globals';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const SRC = new URL('../../src/', import.meta.url).pathname;
const sources = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => ({ file, text: readFileSync(join(SRC, file), 'utf8') }));

/** Returns the files below src that match the pattern. */
const findFiles = (pattern: RegExp): string[] =>
  sources
    .filter(({ text }) => pattern.test(text))
    .map(({ file }) => file)
    .sort();

test('the source code never evaluates text as code', () => {
  expect(findFiles(/\beval\(|new Function\(|from 'node:vm'|Function\(['"`]/)).toEqual([]);
});

/** Sends alerts to the command and the URL in the settings. */
const ALERTS = 'import/alerts/alert-sender.service.ts';
/** Starts the editor of the operator. */
const EDITOR = 'cli/profiles.command.ts';
const OWN_PROGRAMS = ['platform/database/engine/worker-process.ts'];

test('the source code starts only its own programs, NOTIFY_COMMAND and the editor of a command', () => {
  expect(findFiles(/node:child_process|node:worker_threads/)).toEqual([EDITOR, ALERTS, ...OWN_PROGRAMS]);
  const importsOf = (file: string): string | undefined => {
    const text = sources.find((source) => source.file === file)?.text ?? '';
    return /import \{(.*)\} from 'node:child_process'/.exec(text)?.[1];
  };
  for (const file of OWN_PROGRAMS) expect(importsOf(file)).toMatch(/^( type ChildProcess,)? fork $/);
  expect(importsOf(ALERTS)).toBe(' spawn ');
  expect(importsOf(EDITOR)).toBe(' spawnSync ');
  expect(findFiles(/\bshell:/)).toEqual([]);
});

/** Clients for commands, which call a service at `--url` or at its private socket. */
const CLIENT = 'cli/service-client.ts';
const REPLAY = 'cli/replays/replay-run.ts';
const SOCKET = 'operations/start/private-socket.ts';

test('the source code opens no unexpected network connections', () => {
  const fetches = findFiles(/\bfetch\(|node:dgram|node:http2|from '(undici|axios|got)'/);
  expect(fetches.toSorted()).toEqual([REPLAY, ALERTS].toSorted());
  expect(
    findFiles(/import \{[^}]*\b(request|get|connect|createConnection)\b[^}]*\} from 'node:(https?|net|tls)'/),
  ).toEqual([CLIENT, SOCKET]);
  // The service itself never uses these clients.
  expect(findFiles(/service-client\.js'/).filter((file) => !file.startsWith('cli/'))).toEqual([]);
  expect(findFiles(/replay-run\.js'/)).toEqual(['cli/doctor-scim.command.ts']);
});

test('the source code hashes only with SHA-256', () => {
  const named = sources.flatMap(({ text }) =>
    [...text.matchAll(/\b(?:createHash|createHmac|hash)\('([\w-]+)'/g)].map(([, name]) => name),
  );
  expect(new Set(named)).toEqual(new Set(['sha256']));
  // Waiting times need not be secret.
  const waiting = ['platform/database/engine/database-error.ts', 'platform/database/migrate.ts'];
  expect(findFiles(/Math\.random/)).toEqual(waiting);
});

test('the source code contains no CORS headers', () => {
  expect(findFiles(/Access-Control-|enableCors|from 'cors'/i)).toEqual([]);
});

test('the source code stores nothing in browsers', () => {
  expect(findFiles(/localStorage|sessionStorage|indexedDB|persistAuthorization/)).toEqual([]);
});
