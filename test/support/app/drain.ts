import { expect } from '@jest/globals';
import { type Answer, Client } from './client.js';
import { aUser } from '../data/factories.js';
import type { Process } from '../process/process.js';

const CLIENTS = 8;
/** After this many users, requests are in every stage. */
const ENOUGH = 100;

/**
 * Clients behind a balancer create users without a pause until SIGTERM arrives and the balancer, which watches the probe,
 * sends no more requests. Each request must have been answered with 201.
 * @returns how many users were created, and what the balancer has seen last.
 */
export async function drainUnderLoad(
  service: Process,
  client: Client,
): Promise<{ created: number; seen: Answer }> {
  let seen: Answer | undefined;
  let created = 0;
  const load = async (): Promise<void> => {
    for (let last = false; !last;) {
      last = seen !== undefined; // a request sent before the balancer knew may arrive later
      expect((await client.post('/users', aUser())).status).toBe(201);
      if (++created === ENOUGH) service.signal('SIGTERM');
    }
  };
  const balancer = async (): Promise<Answer> => {
    const probe = new Client(service.url);
    for (;;) {
      const answer = await probe.raw('GET', '/health/ready');
      if (answer.status !== 200) return (seen = answer);
    }
  };
  const [last] = await Promise.all([balancer(), ...Array.from({ length: CLIENTS }, load)]);
  expect(created).toBeGreaterThanOrEqual(ENOUGH);
  return { created, seen: last };
}
