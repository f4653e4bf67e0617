import { afterAll, expect, jest, test } from '@jest/globals';
import { compareImages } from '../support/app/database-image.js';
import { NIGHTS } from '../support/data/import-nights.js';
import type { Moment } from '../../tools/kill-switch.js';
import { type NightsResult, runNights } from '../support/process/nightly-imports.js';
import { Process } from '../support/process/process.js';
import { createRandom } from '../support/data/random.js';

/**
 * Kills the service at random moments of imports (with parts, profiles, leavers, returners, an approval and a revert)
 * and of bulk changes. `KILLS=200` sets the number of kills. `KILL_SEED=…` repeats the kills of an earlier run.
 */
const KILLS = Number(process.env['KILLS'] ?? 7);
const SEED = Number(process.env['KILL_SEED'] ?? Date.now() % 1_000_000);
/** Steps of the first kills, whatever the seed. While the plan is applied, many users exchange their e-mails. */
const FIRST_STEPS = [
  'the plan is approved',
  'the plan is approved',
  'the deletion is reverted',
  'a bulk change of the roles by which its users are selected',
  'a bulk change deletes users',
  'users with the same name get unique usernames',
];
/** Largest number of kills in one pass over all nights. */
const KILLS_A_PASS = 15;
jest.setTimeout(120_000 + KILLS * 40_000);
afterAll(() => Process.killAll());

/**
 * Returns the kills of a pass, by step. Half of them happen at a commit, because some phases have few commits. Several kills
 * of one step divide its statements, because the work before a kill is not repeated.
 */
function momentsOf(
  calm: NightsResult,
  kills: number,
  random: (below: number) => number,
): Map<number, Moment[]> {
  const first = FIRST_STEPS.map((step) => calm.steps.findIndex(({ name }) => name === step));
  expect(first).not.toContain(-1);
  const steps = Array.from({ length: kills }, (_, i) => first[i] ?? random(calm.steps.length));
  const moments = new Map<number, Moment[]>();
  for (const step of steps) {
    const { statements = 0, commits = 0 } = calm.steps[step] ?? {};
    const unit = random(2) === 0 ? 'commit' : 'statement';
    const most = (unit === 'commit' ? commits : statements) / steps.filter((other) => other === step).length;
    const at = 1 + random(Math.max(1, Math.floor(most)));
    const service = random(8) > 0;
    const moment: Moment = { at, unit, after: random(2) === 0, service };
    const others = moments.get(step) ?? [];
    // The test cannot notice that only the import worker was killed, so this kill is the last.
    moments.set(step, service ? [moment, ...others] : [...others, moment]);
  }
  return moments;
}

test(`killing the service at random does not change import results (KILL_SEED=${SEED})`, async () => {
  const random = createRandom(SEED);
  const calm = await runNights();
  expect(calm.steps.map(({ name, state }) => [name, state])).toEqual(
    NIGHTS.map(({ name, ends }) => [name, ends]),
  );
  for (let left = KILLS; left > 0; left -= KILLS_A_PASS) {
    const killed = await runNights(momentsOf(calm, Math.min(left, KILLS_A_PASS), random));
    if (process.env['KILLS_SHOWN'] !== undefined) process.stdout.write(`${killed.kills.join('\n')}\n`);
    const { kills, reports } = killed;
    const differs = compareImages(calm.image, killed.image);
    expect({ kills, differs, reports }).toEqual({ kills, differs: {}, reports: calm.reports });
  }
});
