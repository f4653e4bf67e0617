import { expect } from '@jest/globals';
import type { Client } from './client.js';
import { aUser } from './factories.js';
import type { Process } from './process.js';

const CLIENTS = 8;
/** So many users later, requests of every stage are under way. */
const ENOUGH = 100;

/**
 * Clients behind a balancer create users without a pause, until SIGTERM comes amid them and the balancer, which watches the
 * probe, sends no more. Each request must have been answered with 201.
 * @returns how many users were created.
 */
export async function drainUnderLoad(service: Process, client: Client): Promise<number> {
  let open = true;
  let created = 0;
  const load = async (): Promise<void> => {
    while (open) {
      expect((await client.post('/users', aUser())).status).toBe(201);
      if (++created === ENOUGH) service.signal('SIGTERM');
    }
  };
  const balancer = async (): Promise<void> => {
    while (open) open = (await client.raw('GET', '/health/ready')).status === 200;
  };
  await Promise.all([balancer(), ...Array.from({ length: CLIENTS }, load)]);
  expect(created).toBeGreaterThanOrEqual(ENOUGH);
  return created;
}
