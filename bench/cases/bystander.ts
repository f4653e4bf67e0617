import { Agent } from 'node:http';
import { send } from '../faults/load.js';
import type { Service } from '../faults/servers.js';
import { cpuSeconds } from '../support/meter.js';
import { USER_PATH } from './attacks.js';

/** What a client saw: waits in milliseconds, and the CPU that the service used meanwhile. */
export interface Seen {
  longest: number;
  p99: number;
  failed: number;
  cpuSeconds: number;
  seconds: number;
}

const PAUSE_MILLIS = 5;

/** One client that reads a user and asks whether the service is alive, in turns, until `stop`. */
export async function readWhile({ url, pid }: Service, stop: AbortSignal): Promise<Seen> {
  const agent = new Agent({ keepAlive: true });
  const millis: number[] = [];
  let failed = 0;
  const cpu = cpuSeconds([pid]);
  const started = performance.now();
  for (let turn = 0; !stop.aborted; turn++) {
    const from = performance.now();
    const path = turn % 2 === 0 ? USER_PATH : '/health/live';
    const answer = await send(url, 'GET', path, undefined, { agent }).catch(() => undefined);
    millis.push(performance.now() - from);
    if (answer?.status !== 200) failed++;
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MILLIS));
  }
  agent.destroy();
  const sorted = millis.toSorted((a, b) => a - b);
  return {
    longest: sorted.at(-1) ?? 0,
    p99: sorted[Math.floor((sorted.length - 1) * 0.99)] ?? 0,
    failed,
    cpuSeconds: cpuSeconds([pid]) - cpu,
    seconds: (performance.now() - started) / 1000,
  };
}
