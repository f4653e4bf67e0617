import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { Sealer } from '../../src/audit/sealer.service.js';
import { TestApp } from '../support/app/app.js';
import { DAY, HOUR, MINUTE, SealedAudit, badIdsOf } from '../support/app/sealed-audit.js';

/** The clock is set while the service records events. `audit verify` accepts these events, but no inserted ones. */
const { verify, execute, insert } = new SealedAudit(() => app);
let app: TestApp;
beforeEach(async () => {
  app = await TestApp.start({ AUDIT_SEAL_KEY: 'a-key-for-seals-of-32-characters-1' });
  await execute('DELETE FROM audit_events'); // events recorded by the start, which are later
});
afterEach(() => app.end());

/** Some minutes after the sealing of a past hour. */
const START = Math.floor(Date.now() / HOUR) * HOUR - 5 * DAY + 20 * MINUTE;
const seal = (millis: number, hasJumped = false) => app.app.get(Sealer).sealEndedHours(millis, hasJumped);

/** Records an event each minute and seals like the service. @returns the time afterwards. */
async function runService(from: number, minutes: number): Promise<number> {
  for (let time = from; time < from + minutes * MINUTE; time += MINUTE) {
    await insert(time);
    await seal(time + 1000);
  }
  return from + minutes * MINUTE;
}

const JUMPS = {
  'for a minute': { jump: 2 * DAY, minutes: 1, age: 60 },
  'for three hours': { jump: 2 * DAY, minutes: 180, age: 16 },
  'by one hour': { jump: HOUR, minutes: 7, age: 60 },
  'by twenty minutes': { jump: 20 * MINUTE, minutes: 3, age: 60 },
} as const;
test.each(Object.entries(JUMPS))(
  'audit verify accepts events recorded while the clock was ahead %s, but no inserted events',
  async (_, { jump, minutes, age }) => {
    const before = await runService(START, 70);
    await seal(before + jump, true);
    const ahead = await runService(before + jump, minutes);
    let time = ahead - jump;
    const [inserted] = await insert(time - age * MINUTE);
    await seal(time, true);
    const [postdated] = await insert(time + 30 * HOUR);
    time = await runService(time + 1, 200);
    const bad = [inserted!, postdated!].sort();
    expect(badIdsOf(await verify())).toEqual(bad);
    for (const hours of [20, 50, 52]) {
      await seal(time + hours * HOUR);
      expect(badIdsOf(await verify())).toEqual(bad);
    }
    expect(await verify()).toMatchObject({ rows: 270 + minutes, unsealed: 0 });
  },
);

test('audit verify accepts events recorded before a restart corrected the clock', async () => {
  await runService(START, 70);
  await seal(START + 2 * DAY); // the service starts with a wrong clock
  await runService(START + 2 * DAY, 10);
  await insert(START + 80 * MINUTE);
  await seal(START + 81 * MINUTE); // the service starts again
  await runService(START + 82 * MINUTE, 130);
  expect(await verify()).toMatchObject({ rows: 165, unsealed: 46, bad_count: 0 });
});
