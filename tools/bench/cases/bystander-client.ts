import { Agent } from 'node:http';
import { parentPort, workerData } from 'node:worker_threads';
import { send } from '../faults/load.js';

/** What a client saw: waits in milliseconds. */
export interface Waits {
  longest: number;
  p99: number;
  failed: number;
}

const PAUSE_MILLIS = 5;
/** Requests before the first that counts: a service and a client that have just started are slow by themselves. */
const WARM_UP = 100;

/**
 * A thread that reads a user over one connection and asks over a new one whether the service is alive, in turns. It posts
 * `ready` when it is warm, and its waits when it is told to end.
 */
async function read(url: string, path: string): Promise<void> {
  const agent = new Agent({ keepAlive: true });
  const millis: number[] = [];
  let failed = 0;
  const end = new AbortController();
  parentPort?.once('message', () => {
    end.abort();
  });
  for (let turn = 1; !end.signal.aborted; turn++) {
    const from = performance.now();
    const answer = await (
      turn % 2 === 0 ? send(url, 'GET', path, undefined, { agent }) : send(url, 'GET', '/health/live')
    ).catch(() => undefined);
    if (turn > WARM_UP) {
      millis.push(performance.now() - from);
      if (answer?.status !== 200) failed++;
    }
    if (turn === WARM_UP) parentPort?.postMessage('ready');
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MILLIS));
  }
  agent.destroy();
  const sorted = millis.toSorted((a, b) => a - b);
  const p99 = sorted[Math.floor((sorted.length - 1) * 0.99)] ?? 0;
  parentPort?.postMessage({ longest: sorted.at(-1) ?? 0, p99, failed } satisfies Waits);
}

const { url, path } = workerData as { url: string; path: string };
await read(url, path);
