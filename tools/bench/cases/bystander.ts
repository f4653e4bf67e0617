import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Service } from '../faults/servers.js';
import { cpuSeconds } from '../support/meter.js';
import { USER_PATH } from './attacks.js';
import type { Waits } from './bystander-client.js';

/** What a client saw, and the CPU that the service used meanwhile. */
export interface Seen extends Waits {
  cpuSeconds: number;
  seconds: number;
}

/**
 * What a client sees of the service during `attack`. It runs in a thread of its own, so that what holds up the attackers
 * does not count as a wait of the service.
 */
export async function readDuring({ url, pid }: Service, attack: () => Promise<unknown>): Promise<Seen> {
  const client = new Worker(new URL('bystander-client.ts', import.meta.url), {
    workerData: { url, path: USER_PATH },
  });
  try {
    await once(client, 'message'); // it is warm
    const cpu = cpuSeconds([pid]);
    const started = performance.now();
    await attack();
    const seconds = (performance.now() - started) / 1000;
    const used = cpuSeconds([pid]) - cpu;
    client.postMessage('end');
    const [waits] = (await once(client, 'message')) as [Waits];
    return { ...waits, cpuSeconds: used, seconds };
  } finally {
    await client.terminate();
  }
}
