import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Ports below the range of Linux, macOS and Windows for outgoing connections and for port 0. */
const [LOWEST, LIMIT] = [10_000, 32_768];

const given = new Set<number>();

/**
 * Returns a port of 127.0.0.1 for a program that is started later, or several times.
 * It is never one that the system gives to another program in between.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(LOWEST, LIMIT);
    if (given.has(port) || !(await isFree(port))) continue;
    given.add(port);
    return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  const probe = createServer();
  try {
    await once(probe.listen(port, '127.0.0.1'), 'listening');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return false;
    throw error;
  }
  probe.close();
  await once(probe, 'close');
  return true;
}
