import { expect, jest } from '@jest/globals';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { API_KEY } from '../support/app/app.js';
import { Client } from '../support/app/client.js';
import { onSqlite } from '../support/app/database.js';
import { aUser } from '../support/data/factories.js';
import { createRandom, pickOne } from '../support/data/random.js';
import { Process, envOf, setUpDatabase } from '../support/process/process.js';

/**
 * Deletes, replaces and damages files of the embedded database while clients write. `ACTS=500` sets the number of
 * random acts. `ACT_SEED=…` repeats the acts of an earlier run.
 */
const ACTS = Number(process.env['ACTS'] ?? 3);
const SEED = Number(process.env['ACT_SEED'] ?? Date.now() % 1_000_000);
const database = setUpDatabase('first-start');
jest.setTimeout(60_000 + ACTS * 30_000);

const MAIN = 'rollcall.sqlite';
const SUFFIXES = ['', '-wal', '-shm', '-installation', '-owner'];
const WRITERS = 4;
/** Time after an act in which the service may not yet have noticed the act. */
const GRACE_MILLIS = 20;
/** Longer than the service needs to notice any act. */
const NOTICE_MILLIS = 5000;

/** Acts on a file. `copy` is an older copy of the file. */
type Act = (file: string, copy: string, random: (below: number) => number) => void;
const replace = (file: string, from: string): void => {
  copyFileSync(from, `${file}.new`);
  renameSync(`${file}.new`, file);
};
const RANDOM_ACTS: Record<string, Act> = {
  deleted: (file) => {
    rmSync(file);
  },
  'moved away': (file) => {
    renameSync(file, `${file}.moved`);
  },
  emptied: (file) => {
    truncateSync(file);
  },
  shortened: (file, _, random) => {
    truncateSync(file, random(statSync(file).size + 1));
  },
  'overwritten by an older copy': (file, copy) => {
    writeFileSync(file, readFileSync(copy));
  },
  'replaced by an older copy': replace,
  'replaced by itself': (file) => {
    replace(file, file);
  },
  'made read-only': (file) => {
    chmodSync(file, 0o400);
  },
};

/** The name of a created user, and the time of the request. A busy machine may report the response late. */
interface Acknowledged {
  username: string;
  sent: number;
}

/** Creates users until the service ends or `signal` aborts. */
async function createUsers(url: string, acknowledged: Acknowledged[], signal: AbortSignal): Promise<void> {
  const client = new Client(url, { 'x-api-key': API_KEY });
  while (!signal.aborted) {
    const user = aUser();
    const sent = performance.now();
    const answer = await client.post('/users', user).catch(() => undefined);
    if (answer?.status !== 201) return;
    acknowledged.push({ username: String(user['username']), sent });
  }
}

interface Outcome {
  /** Number of acknowledged changes that were requested after the act and are gone. */
  lateLost: number;
  /** True if acknowledged changes are gone, but neither the log nor the next start reports this. */
  isSilent: boolean;
  integrity: unknown;
}

/** Acts on a file while clients write, then starts the service again. */
async function actOn(suffix: string, act: Act, random: (below: number) => number): Promise<Outcome> {
  const file = join(database.folder, MAIN + suffix);
  const copies = join(database.folder, 'copies');
  const service = await Process.startService(envOf(database));
  const acknowledged: Acknowledged[] = [];
  const stopping = new AbortController();
  const writing = Promise.all(
    Array.from({ length: WRITERS }, () => createUsers(service.url, acknowledged, stopping.signal)),
  );
  while (acknowledged.length === 0) await delay(5);
  await delay(random(400));
  mkdirSync(copies);
  for (const name of readdirSync(database.folder))
    if (name.startsWith(MAIN)) copyFileSync(join(database.folder, name), join(copies, name));
  await delay(random(400));
  act(file, join(copies, MAIN + suffix), random);
  const acted = performance.now();
  if (random(3) === 0) service.signal('SIGKILL');
  await Promise.race([service.exit, delay(random(2) === 0 ? 100 : NOTICE_MILLIS)]);
  stopping.abort();
  service.signal(random(2) === 0 ? 'SIGTERM' : 'SIGKILL');
  await Promise.all([service.exit, writing]);

  const again = new Process('dist/main.js', envOf(database));
  const isStarted = await again.waitUntilReady().then(
    () => true,
    () => false,
  );
  if (isStarted) await again.stop();
  else expect(again.err).toMatch(/is missing or empty|another installation|is damaged|was shortened/);
  const found = isStarted ? readUsers() : { usernames: new Set<unknown>(), integrity: 'ok' };
  const lost = acknowledged.filter(({ username }) => !found.usernames.has(username));
  const isReported = !isStarted || /database replaced|changes lost/.test(service.out + again.out);
  return {
    lateLost: lost.filter(({ sent }) => sent > acted + GRACE_MILLIS).length,
    isSilent: lost.length > 0 && !isReported,
    integrity: found.integrity,
  };
}

function readUsers() {
  const connection = new DatabaseSync(join(database.folder, MAIN));
  const usernames = new Set(
    connection
      .prepare('SELECT username FROM users')
      .all()
      .map(({ username }) => username),
  );
  const integrity = connection.prepare('PRAGMA integrity_check').get()?.['integrity_check'];
  connection.close();
  return { usernames, integrity };
}

const SOUND: Outcome = { lateLost: 0, isSilent: false, integrity: 'ok' };

const random = createRandom(SEED);
const acts = Array.from({ length: ACTS }, () => {
  const suffix = pickOne(random, SUFFIXES);
  const [name, act] = pickOne(random, Object.entries(RANDOM_ACTS));
  return [`${MAIN}${suffix}`, name, suffix, act, random(1_000_000)] as const;
});

onSqlite.each(acts)(
  `no acknowledged change is lost silently if %s is %s (ACT_SEED=${SEED})`,
  async (_, __, suffix, act, seed) => {
    expect(await actOn(suffix, act, createRandom(seed))).toEqual(SOUND);
  },
);

/** Changes a byte of a file. A negative position counts from the end. */
function changeByte(file: string, position: number): void {
  const bytes = readFileSync(file);
  bytes.subarray(position)[0]! ^= 1;
  writeFileSync(file, bytes);
}

/** Acts on the log of a killed service. The log has some hundred kilobytes. */
const LOG_ACTS: [description: string, act: (log: string) => void | Promise<void>, isLost: boolean][] = [
  [
    'another program has checkpointed the log',
    async (log) => {
      while (existsSync(log)) {
        readUsers(); // deletes the log, unless a worker of the killed service still has the file open
        await delay(5);
      }
    },
    false,
  ],
  ['a byte in the middle of the log was changed', (log) => changeByte(log, -100_000), true],
  ['a byte in the header of the log was changed', (log) => changeByte(log, 24), true],
];

onSqlite.each(LOG_ACTS)(
  'the start after a kill reports lost changes only if changes are lost: %s',
  async (_, act, isLost) => {
    const service = await Process.startService(envOf(database));
    const acknowledged: Acknowledged[] = [];
    const stopping = new AbortController();
    const writing = createUsers(service.url, acknowledged, stopping.signal);
    while (acknowledged.length < 20) await delay(5);
    service.signal('SIGKILL');
    await Promise.all([service.exit, writing]);
    await act(join(database.folder, `${MAIN}-wal`));

    const again = await Process.startService(envOf(database));
    await again.stop();
    expect(again.out.includes('changes lost')).toBe(isLost);
    const { usernames } = readUsers();
    expect(acknowledged.some(({ username }) => !usernames.has(username))).toBe(isLost);
  },
);
