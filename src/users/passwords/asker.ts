import type { Caller } from '../../access/actor.js';
import { networkOf } from '../../platform/http/request-headers.js';
import type { Asker } from './fair-queue.js';

/** In whose turn a hash is computed for a caller. */
export function askerOf({ actor, ip }: Caller): Asker {
  return { account: actor.id ?? actor.kind, network: networkOf(ip) };
}
