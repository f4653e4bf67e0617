import { Service } from './faults/servers.js';
import { send } from './faults/load.js';

/**
 * `npm run bench:login`: how long the service takes to refuse a login, by reason: the answers must not reveal which
 * names exist. The reasons take turns, so that other load on the machine affects all of them alike.
 */
const ROUNDS = 300;
const service = await Service.make({ LOGIN_FAILURES_PER_NAME: '100000', LOGIN_FAILURES_PER_IP: '100000' });

async function create(name: string, more: object): Promise<void> {
  const body = { username: name, email: `${name}@example.org`, ...more };
  const { status } = await send(service.url, 'POST', '/api/0.3/users', body);
  if (status !== 201) throw new Error(`create ${name}: ${status}`);
}
await create('known', { password: 'a good password' });
await create('blocked', { password: 'a good password', status: 'Blocked' });
await create('without', {});

const REASONS: Record<string, [string, string]> = {
  'unknown user': ['nobody', 'a wrong password'],
  'wrong password': ['known', 'a wrong password'],
  'blocked user, right password': ['blocked', 'a good password'],
  'user without a password': ['without', 'a wrong password'],
};
const millis = new Map(Object.keys(REASONS).map((reason) => [reason, [] as number[]]));
for (let round = 0; round < ROUNDS; round++) {
  for (const [reason, [username, password]] of Object.entries(REASONS)) {
    const from = performance.now();
    const { status } = await send(service.url, 'POST', '/api/0.3/sessions/login', { username, password });
    millis.get(reason)?.push(performance.now() - from);
    if (status !== 401) throw new Error(`${reason}: ${status}`);
  }
}
await service.remove();

const at = (sorted: number[], share: number): number => sorted[Math.floor((sorted.length - 1) * share)] ?? 0;
const median = (reason: string): number =>
  at(
    (millis.get(reason) ?? []).toSorted((a, b) => a - b),
    0.5,
  );
const base = median('wrong password');
process.stdout.write(
  '| Refused for | p10 (ms) | Median | p90 | Beside a wrong password |\n| --- | --- | --- | --- | --- |\n',
);
for (const [reason, values] of millis) {
  const sorted = values.toSorted((a, b) => a - b);
  const [p10, p50, p90] = [0.1, 0.5, 0.9].map((share) => at(sorted, share).toFixed(1));
  const beside = `${(((median(reason) - base) / base) * 100).toFixed(1)} %`;
  process.stdout.write(`| ${reason} | ${p10 ?? ''} | ${p50 ?? ''} | ${p90 ?? ''} | ${beside} |\n`);
}
