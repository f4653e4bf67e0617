import { expect } from '@jest/globals';
import { type Answer, Client } from './client.js';
import { aUser } from '../data/factories.js';
import type { Process } from '../process/process.js';

const CLIENTS = 8;
/** Number of created users after which requests are in every stage of processing. */
const ENOUGH = 100;

/**
 * Lets clients create users without a pause while the service receives SIGTERM. They stop when a load balancer sees
 * that the readiness probe fails. Every request must return 201.
 * @returns the number of created users and the last response to the balancer.
 */
export async function drainUnderLoad(
  service: Process,
  client: Client,
): Promise<{ created: number; seen: Answer }> {
  let seen: Answer | undefined;
  let created = 0;
  const load = async (): Promise<void> => {
    for (let last = false; !last;) {
      last = seen !== undefined; // a request that was sent before the probe failed may arrive later
      expect((await client.post('/users', aUser())).status).toBe(201);
      if (++created === ENOUGH) service.signal('SIGTERM');
    }
  };
  const balancer = async (): Promise<Answer> => {
    const probe = new Client(service.url);
    for (;;) {
      const response = await probe.fetch('GET', '/health/ready');
      if (response.status !== 200) return (seen = response);
    }
  };
  const [last] = await Promise.all([balancer(), ...Array.from({ length: CLIENTS }, load)]);
  expect(created).toBeGreaterThanOrEqual(ENOUGH);
  return { created, seen: last };
}
