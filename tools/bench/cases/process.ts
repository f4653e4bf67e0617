import { setTimeout as delay } from 'node:timers/promises';
import { Service } from '../../servers.js';
import { MemoryWatch } from '../support/meter.js';
import type { Absolute } from '../support/results.js';
import { medianOf } from '../support/statistics.js';
import type { Context } from './context.js';

const STARTS = 5;
const SETTLED_MILLIS = 2000;

/**
 * Measures the time from the start of the service to its first response to an API key, and the idle memory of all its
 * processes. The service may use all cores.
 */
export async function measureProcess({
  engine,
  url,
  log,
}: Pick<Context, 'engine' | 'url' | 'log'>): Promise<Absolute[]> {
  const seconds: number[] = [];
  let idle = 0;
  for (let start = 0; start < STARTS; start++) {
    const from = performance.now();
    const service = await Service.create({ DATABASE_URL: url, LOG_LEVEL: 'info' });
    seconds.push((performance.now() - from) / 1000);
    if (start === 0) {
      await delay(SETTLED_MILLIS);
      const memory = new MemoryWatch(service.pid);
      idle = memory.peak;
      memory.end();
    }
    await service.remove();
  }
  const value = medianOf(seconds);
  log(`first response after ${value.toFixed(2)} s, ${idle.toFixed(0)} MiB idle`);
  return [
    { case: 'cold start to the first response', engine: engine.name, value, unit: 's', atMost: 1 },
    { case: 'memory, idle', engine: engine.name, value: idle, unit: 'MiB', atMost: 190 },
  ];
}
