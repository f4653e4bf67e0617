import autocannon from 'autocannon';
import { HEADERS, FIRST_SERIAL, JSON_HEADERS, type RequestOf } from './requests.js';
import type { Sample } from './results.js';
import { readCpu, readMemory } from './meter.js';
import { percentilesOf } from './statistics.js';

const connections = Number(process.env['BENCH_CONNECTIONS'] ?? 16);

/** A server under load, with the process whose CPU time is measured. */
export interface Contender {
  name: string;
  url: string;
  pid: number;
}

let serial = FIRST_SERIAL + 1_000_000;

/**
 * Sends requests on `BENCH_CONNECTIONS` connections (16). Each connection sends the next request after a response.
 * @param next returns the number for the next request.
 * @throws Error if a response was not 2xx or took more than ten seconds.
 */
export async function runLoad(
  { name, url, pid }: Contender,
  requestOf: RequestOf,
  next: () => number,
  seconds: number,
): Promise<Sample> {
  const millis: number[] = [];
  const cpu = readCpu([pid]);
  const from = performance.now();
  const result = await new Promise<autocannon.Result>((resolve, reject) => {
    const setupRequest = (request: autocannon.Request): autocannon.Request => {
      const { method, path, body } = requestOf(next(), serial++);
      if (!body) return { ...request, method, path, headers: HEADERS };
      // a copy, because autocannon adds the length of the body
      return { ...request, method, path, headers: { ...JSON_HEADERS }, body: JSON.stringify(body) };
    };
    const options = { url, connections, duration: seconds, requests: [{ setupRequest }] };
    const instance = autocannon(options, (error: Error | null, done) => {
      if (error) reject(error);
      else resolve(done);
    });
    instance.on('response', (_client, _status, _length, time) => {
      millis.push(time);
    });
  });
  const passed = (performance.now() - from) / 1000;
  const used = readCpu([pid]) - cpu;
  const bad = result.non2xx + result.errors + result.timeouts;
  if (bad > 0) {
    const { statusCodeStats = {}, errors, timeouts } = result;
    const why = JSON.stringify({ ...statusCodeStats, errors, timeouts });
    throw new Error(
      `${name}: ${bad} of ${bad + millis.length} requests failed in ${passed.toFixed(1)} s: ${why}`,
    );
  }
  return {
    perSecond: millis.length / passed,
    perCpuSecond: millis.length / used,
    ...percentilesOf(millis),
    memory: readMemory(pid).now,
  };
}
