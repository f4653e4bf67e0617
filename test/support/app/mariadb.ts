import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, openSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createConnection } from 'mysql2/promise';
import { freePort } from '../../../tools/free-port.ts'; // loaded by Node.js, which does not map .js to .ts

/** Errors of a server that is not running yet. */
const STARTING = ['ECONNREFUSED', 'ETIMEDOUT'];

/** Files in memory, on Linux. */
const MEMORY = '/dev/shm';
/** Bytes that must be free there: the databases of all workers with room to spare. Containers often have only 64 MiB. */
const ENOUGH = 4 * 1024 ** 3;

/** Jest loads the start and the stop of a run one by one: what they share is a global. */
const run = globalThis as { mariadb?: { server: ChildProcess; folder: string } | undefined };

/** Starts a throwaway MariaDB in a temporary folder for the tests, unless TEST_DATABASE_URL names one. */
export async function startMariadb(): Promise<void> {
  if (process.env['TEST_DATABASE_URL'] !== undefined) return;
  const folder = mkdtempSync(join(parentFolder(), 'rollcall-mariadb-'));
  const data = join(folder, 'data');
  const { username } = userInfo();
  execFileSync('mariadb-install-db', [
    '--no-defaults',
    `--user=${username}`,
    `--datadir=${data}`,
    '--auth-root-authentication-method=normal',
    '--skip-test-db',
  ]);
  const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  const made = `req -x509 -newkey rsa:2048 -nodes -days 1 -keyout ${key} -out ${cert} -subj /CN=localhost`;
  execFileSync('openssl', [...made.split(' '), '-addext', 'subjectAltName=DNS:localhost'], {
    stdio: 'ignore',
  });
  const port = await freePort();
  const log = join(folder, 'log');
  const output = openSync(log, 'w');
  const server = spawn(
    'mariadbd',
    [
      '--no-defaults',
      `--user=${username}`,
      `--datadir=${data}`,
      `--socket=${join(folder, 's')}`,
      `--tmpdir=${folder}`, // a server that starts removes the temporary tables of others in a shared one
      `--port=${port}`,
      '--bind-address=127.0.0.1',
      '--skip-name-resolve',
      '--innodb-flush-log-at-trx-commit=0',
      '--max-connections=500',
      `--ssl-cert=${cert}`,
      `--ssl-key=${key}`,
    ],
    { stdio: ['ignore', output, output] },
  );
  run.mariadb = { server, folder };
  process.env['TEST_DATABASE_URL'] = `mariadb://root@127.0.0.1:${port}/rollcall`;
  process.env['TEST_DATABASE_CA'] = cert;
  await ready(server, port, log);
}

export async function stopMariadb(): Promise<void> {
  const started = run.mariadb;
  if (!started) return;
  const ended = once(started.server, 'exit');
  started.server.kill('SIGKILL');
  await ended;
  rmSync(started.folder, { recursive: true, force: true });
  run.mariadb = undefined;
  delete process.env['TEST_DATABASE_URL'];
  delete process.env['TEST_DATABASE_CA'];
}

/** Where databases go: each statement that makes or drops a table waits for a disk several times, but not for memory. */
export function parentFolder(): string {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    return bavail * bsize >= ENOUGH ? MEMORY : tmpdir();
  } catch {
    return tmpdir(); // other systems have no such folder
  }
}

/** Resolves once it answers, however long the machine takes. @throws Error with its log when it ends instead. */
async function ready(server: ChildProcess, port: number, log: string): Promise<void> {
  while (server.exitCode === null && server.signalCode === null) {
    try {
      const connection = await createConnection({ host: '127.0.0.1', port, user: 'root' });
      await connection.end();
      return;
    } catch (error) {
      if (!STARTING.includes(String((error as { code?: unknown }).code))) throw error;
      await delay(50);
    }
  }
  throw new Error(`the throwaway MariaDB did not start: ${readFileSync(log, 'utf8')}`);
}
