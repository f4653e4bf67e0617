import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, openSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createConnection } from 'mysql2/promise';
// Loaded by Node.js, which does not map .js to .ts.
import { freePort } from '../../../tools/free-port.ts';
import { createCertificate } from '../process/certificate.ts';

/** Error codes of a server that does not accept connections yet. */
const STARTING = ['ECONNREFUSED', 'ETIMEDOUT'];

/** Folder for files in memory, on Linux. */
const MEMORY = '/dev/shm';
/** Free bytes that the databases of all workers need in memory. Containers often have only 64 MiB. */
const ENOUGH = 4 * 1024 ** 3;

/** State of the server, shared as a global because Jest loads the setup and the teardown separately. */
const run = globalThis as { mariadb?: { server: ChildProcess; folder: string } | undefined };

/** Starts a throwaway MariaDB in a temporary folder, unless TEST_DATABASE_URL names a server. */
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
  const { cert, key } = createCertificate(folder, 'DNS:localhost');
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
      `--tmpdir=${folder}`, // in a shared folder, a starting server removes the temporary tables of other servers
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
  await waitUntilReady(server, port, log);
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

/**
 * Returns the folder for databases. Memory is preferred, because each statement that creates or drops a table waits for
 * the disk several times.
 */
export function parentFolder(): string {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    return bavail * bsize >= ENOUGH ? MEMORY : tmpdir();
  } catch {
    return tmpdir(); // other systems have no such folder
  }
}

/** Waits until the server accepts connections. @throws Error with the log of the server if it ends instead. */
async function waitUntilReady(server: ChildProcess, port: number, log: string): Promise<void> {
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
