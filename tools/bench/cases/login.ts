import { Service } from '../faults/servers.js';
import { Floor } from '../floors/floor.js';
import { memory } from '../support/meter.js';
import { PASSWORD, PASSWORD_HASH } from '../support/password.js';
import { usernameOf } from '../support/person.js';
import type { RequestOf } from '../support/requests.js';
import { compare, inTurns } from '../support/rounds.js';
import type { Context, Outcome } from './context.js';

/** Share of the rate of the baseline to reach. */
const GOAL = 0.9;
const FLOOR = 'argon2id alone';

/**
 * Compares logins of random users with plain checks of the same password. Both use all cores except the cores of the
 * load.
 */
export async function compareLogins({ engine, cores, effort, url, users, log }: Context): Promise<Outcome> {
  const requestOf: RequestOf = (n) => ({
    method: 'POST',
    path: '/api/0.3/sessions/login',
    body: { username: usernameOf(n), password: PASSWORD },
  });
  const settings = { DATABASE_URL: url, LOG_LEVEL: 'info' };
  const service = await Service.make(settings, undefined, cores.computing);
  const floor = await Floor.make('argon2', { hash: PASSWORD_HASH, password: PASSWORD }, cores.computing);
  try {
    const contenders = [
      { name: 'service', url: service.url, pid: service.pid },
      { name: FLOOR, url: floor.url, pid: floor.pid },
    ];
    const next = (): number => Math.floor(Math.random() * users);
    const { service: measured, floors } = compare(
      [FLOOR],
      await inTurns(contenders, requestOf, next, effort),
    );
    log(`login: ${floors.map(({ ratio }) => ratio.cpu.toFixed(2)).join()} of ${FLOOR}`);
    return {
      comparisons: [
        {
          case: 'login',
          engine: engine.name,
          service: measured,
          floors: floors.map((result) => ({ ...result, goal: GOAL })),
        },
      ],
      peak: memory(service.pid).peak,
    };
  } finally {
    await floor.remove();
    await service.remove();
  }
}
