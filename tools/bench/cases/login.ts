import { Service } from '../../servers.js';
import { Baseline } from '../baselines/baseline.js';
import { readMemory } from '../support/meter.js';
import { PASSWORD, PASSWORD_HASH } from '../support/password.js';
import { usernameOf } from '../support/person.js';
import type { RequestOf } from '../support/requests.js';
import { compare, alternate } from '../support/rounds.js';
import type { Context, Outcome } from './context.js';

/** Share of the rate of the baseline to reach. */
const GOAL = 0.9;
const BASELINE = 'argon2id alone';

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
  const service = await Service.create(settings, undefined, cores.computing);
  const baseline = await Baseline.create(
    'argon2',
    { hash: PASSWORD_HASH, password: PASSWORD },
    cores.computing,
  );
  try {
    const contenders = [
      { name: 'service', url: service.url, pid: service.pid },
      { name: BASELINE, url: baseline.url, pid: baseline.pid },
    ];
    const next = (): number => Math.floor(Math.random() * users);
    const { service: measured, baselines } = compare(
      [BASELINE],
      await alternate(contenders, requestOf, next, effort),
    );
    log(`login: ${baselines.map(({ ratio }) => ratio.cpu.toFixed(2)).join()} of ${BASELINE}`);
    return {
      comparisons: [
        {
          case: 'login',
          engine: engine.name,
          service: measured,
          baselines: baselines.map((result) => ({ ...result, goal: GOAL })),
        },
      ],
      peak: readMemory(service.pid).peak,
    };
  } finally {
    await baseline.remove();
    await service.remove();
  }
}
