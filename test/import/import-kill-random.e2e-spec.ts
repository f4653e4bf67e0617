import { afterAll, expect, jest, test } from '@jest/globals';
import { differences } from '../support/app/database-image.js';
import { NIGHTS } from '../support/data/import-nights.js';
import type { Moment } from '../../tools/kill-switch.js';
import { type Shift, workThrough } from '../support/process/night-shift.js';
import { Process } from '../support/process/process.js';
import { randoms } from '../support/data/random.js';

/**
 * Kills at random moments of all that imports do: parts, a profile, leavers and returners, an approval, a revert. KILLS=200
 * sets another number of them, and KILL_SEED=… repeats those of a run.
 */
const KILLS = Number(process.env['KILLS'] ?? 4);
const SEED = Number(process.env['KILL_SEED'] ?? Date.now() % 1_000_000);
/** Of so many each pass of the nights has its share. */
const KILLS_A_PASS = 15;
jest.setTimeout(120_000 + KILLS * 40_000);
afterAll(() => Process.killAll());

/**
 * Where the kills of a pass come: half of them at a commit, of which some phases have few. Of several in one step each comes
 * earlier, because what was done before a kill is not done again.
 */
function momentsOf(calm: Shift, kills: number, random: (below: number) => number): Map<number, Moment[]> {
  const exchange = calm.steps.findIndex(({ name }) => name === 'that is approved');
  expect(exchange).not.toBe(-1);
  // With any seed, the first three kills come while many users exchange their addresses.
  const steps = Array.from({ length: kills }, (_, i) => (i < 3 ? exchange : random(calm.steps.length)));
  const moments = new Map<number, Moment[]>();
  for (const step of steps) {
    const { statements = 0, commits = 0 } = calm.steps[step] ?? {};
    const unit = random(2) === 0 ? 'commit' : 'statement';
    const most = (unit === 'commit' ? commits : statements) / steps.filter((other) => other === step).length;
    const at = 1 + random(Math.max(1, Math.floor(most)));
    const service = random(8) > 0;
    const moment: Moment = { at, unit, after: random(2) === 0, service };
    const others = moments.get(step) ?? [];
    // Nothing tells the test that the process died alone: that one is the last.
    moments.set(step, service ? [moment, ...others] : [...others, moment]);
  }
  return moments;
}

test(`nights of killed services end like undisturbed ones (KILL_SEED=${SEED})`, async () => {
  const random = randoms(SEED);
  const calm = await workThrough();
  expect(calm.steps.map(({ name, state }) => [name, state])).toEqual(
    NIGHTS.map(({ name, ends }) => [name, ends]),
  );
  for (let left = KILLS; left > 0; left -= KILLS_A_PASS) {
    const killed = await workThrough(momentsOf(calm, Math.min(left, KILLS_A_PASS), random));
    if (process.env['KILLS_SHOWN'] !== undefined) process.stdout.write(`${killed.kills.join('\n')}\n`);
    const { kills, reports } = killed;
    const differs = differences(calm.image, killed.image);
    expect({ kills, differs, reports }).toEqual({ kills, differs: {}, reports: calm.reports });
  }
});
