import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';

export default async function stop(): Promise<void> {
  const { mariadb } = globalThis as { mariadb?: { server: ChildProcess; folder: string } };
  if (!mariadb) return;
  const ended = once(mariadb.server, 'exit');
  mariadb.server.kill('SIGKILL');
  await ended;
  rmSync(mariadb.folder, { recursive: true, force: true });
  delete process.env['TEST_DATABASE_URL'];
  delete process.env['TEST_DATABASE_CA'];
}
