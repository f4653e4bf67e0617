import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Range of ports that Linux, macOS and Windows use neither for outgoing connections nor for port 0. */
const [LOWEST, LIMIT] = [10_000, 32_768];

const used = new Set<number>();

/**
 * Returns a port of 127.0.0.1 for a program that is started later or several times. It is outside the range from which
 * the system assigns ports to other programs.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(LOWEST, LIMIT);
    if (used.has(port) || !(await isFree(port))) continue;
    used.add(port);
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
