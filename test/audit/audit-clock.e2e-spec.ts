import { beforeEach, expect, jest, test } from '@jest/globals';
import { Sealer } from '../../src/audit/sealer.service.js';
import { TransactionRunner } from '../../src/platform/database/transaction-runner.js';
import { setUpFreshApp } from '../support/app/app.js';
import { DAY, HOUR, MINUTE, SealedAudit, badIdsOf } from '../support/app/sealed-audit.js';

/** The clock is set while the service records events. `audit verify` accepts these events, but not inserted events. */
const app = setUpFreshApp({ AUDIT_SEAL_KEY: 'a-key-for-seals-of-32-characters-1' });
const { verify, execute, insert } = new SealedAudit(() => app);
// Deletes the events of the start, because they are later than the events of the tests.
beforeEach(() => execute('DELETE FROM audit_events'));

/** Some minutes after the sealing of a past hour. */
const START = Math.floor(Date.now() / HOUR) * HOUR - 20 * DAY + 20 * MINUTE;
const seal = (millis: number, hasJumped = false) => app.app.get(Sealer).sealEndedHours(millis, hasJumped);

/** Records an event each minute and seals like the service. @returns the time afterwards. */
async function runService(from: number, minutes: number): Promise<number> {
  for (let time = from; time < from + minutes * MINUTE; time += MINUTE) {
    await insert(time);
    await seal(time + 1000);
  }
  return from + minutes * MINUTE;
}

test('audit verify accepts events recorded while the clock was ahead and set back twice, but no inserted events', async () => {
  const before = await runService(START, 70);
  await seal(before + 2 * DAY, true);
  let time = (await runService(before + 2 * DAY, 180)) - 2 * DAY;
  const bad = await insert(time - 16 * MINUTE);
  await seal(time, true);
  bad.push(...(await insert(time + 30 * HOUR)));
  for (const hours of [1, 2, 3]) await seal(time + hours * HOUR); // without events
  await insert(time + 3 * HOUR);
  await seal((time += 160 * MINUTE), true);
  time = (await runService(time, 140)) - 28 * MINUTE;
  await seal(time, true);
  time = await runService(time, 200);
  for (const hours of [0, 20, 50, 52]) {
    await seal(time + hours * HOUR);
    expect(badIdsOf(await verify())).toEqual(bad);
  }
  expect(await verify()).toMatchObject({ rows: 591, unsealed: 0 });
});

const JUMPS = [-2 * DAY, -HOUR, -40 * MINUTE, -6 * MINUTE, 0, 20 * MINUTE, HOUR, 2 * DAY];
const pick = (values: readonly number[]) => values[Math.floor(Math.random() * values.length)]!;
test('audit verify accepts events recorded during random clock changes, but no inserted events', async () => {
  const start = (millis: number) => app.app.get(Sealer).sealAtStart(millis);
  for (let sequence = 0; sequence < 15; sequence++) {
    for (const name of ['events', 'seals', 'late_events']) await execute(`DELETE FROM audit_${name}`);
    await insert(START);
    await start(START);
    const steps: unknown[] = [];
    let time = START;
    for (const set of [pick([0, 1]) ? start : seal, seal, seal, start, seal, start]) {
      const [jump, minutes] = [pick(JUMPS), pick([1, 3, 20, 70])];
      steps.push([set.name, jump / MINUTE, minutes]);
      await set(time + jump, true);
      time = await runService(time + jump, minutes);
    }
    time = await runService(time, 70);
    const bad = await insert(time - 81 * MINUTE - Math.random() * 2 * DAY);
    bad.push(...(await insert(time + 96 * MINUTE + Math.random() * 2 * DAY)));
    await runService(time, 70);
    expect([steps, badIdsOf(await verify())]).toEqual([steps, bad]);
  }
});

test('a transaction starts again if the clock was set before its commit', async () => {
  const setClock = () => jest.spyOn(Date, 'now').mockReturnValue(START);
  const work = jest.fn(() => Promise.resolve(setClock()));
  (await app.app.get(TransactionRunner).run(work)).mockRestore();
  expect(work).toHaveBeenCalledTimes(2);
});
