import autocannon from 'autocannon';
import { HEADERS, FIRST_SERIAL, JSON_HEADERS, type RequestOf } from './requests.js';
import type { Sample } from './results.js';
import { cpuSeconds, memory } from './meter.js';

const CONNECTIONS = 16;

/** A server under load, and the processes whose CPU counts as its own. */
export interface Contender {
  name: string;
  url: string;
  pid: number;
  /** In addition to that of `pid`. */
  alsoCounted?: readonly number[];
}

let serial = FIRST_SERIAL + 1_000_000;

/**
 * Sends requests on some connections (16), each sends the next one as soon as it has its answer.
 * @param next the number for the next request.
 * @throws Error when an answer was not 2xx, or did not arrive in ten seconds.
 */
export async function load(
  { name, url, pid, alsoCounted = [] }: Contender,
  requestOf: RequestOf,
  next: () => number,
  { seconds, connections = CONNECTIONS }: { seconds: number; connections?: number | undefined },
): Promise<Sample> {
  const millis: number[] = [];
  let bytes = 0;
  const pids = [pid, ...alsoCounted];
  const cpu = cpuSeconds(pids);
  const from = performance.now();
  const result = await new Promise<autocannon.Result>((resolve, reject) => {
    const setupRequest = (request: autocannon.Request): autocannon.Request => {
      const { method, path, body } = requestOf(next(), serial++);
      if (!body) return { ...request, method, path, headers: HEADERS };
      // a copy: autocannon adds the length of the body
      return { ...request, method, path, headers: { ...JSON_HEADERS }, body: JSON.stringify(body) };
    };
    const options = {
      url,
      connections,
      duration: seconds,
      requests: [{ setupRequest }],
    };
    const instance = autocannon(options, (error: Error | null, done) => {
      if (error) reject(error);
      else resolve(done);
    });
    instance.on('response', (_client, _status, length, time) => {
      millis.push(time);
      bytes += length;
    });
  });
  const passed = (performance.now() - from) / 1000;
  const used = cpuSeconds(pids) - cpu;
  const bad = result.non2xx + result.errors + result.timeouts;
  if (bad > 0) {
    const { statusCodeStats = {}, errors, timeouts } = result;
    const why = JSON.stringify({ ...statusCodeStats, errors, timeouts });
    throw new Error(
      `${name}: ${bad} bad answers beside ${millis.length} others in ${passed.toFixed(1)} s: ${why}`,
    );
  }
  const sorted = millis.sort((a, b) => a - b);
  const at = (share: number): number => sorted[Math.floor((sorted.length - 1) * share)] ?? 0;
  return {
    perSecond: sorted.length / passed,
    perCpuSecond: sorted.length / used,
    median: at(0.5),
    p99: at(0.99),
    bytes: bytes / sorted.length,
    memory: memory(pid).now,
  };
}
