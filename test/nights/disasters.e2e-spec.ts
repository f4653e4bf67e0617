import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../support/process/process.js';
import { drop } from './changes.js';
import type { Json } from '../support/app/client.js';
import { keep, type Disaster } from './disaster.js';
import { DISASTERS } from './disasters.js';
import { type Dataset, Stage, stopsOf, formatRun, addSizes } from './stage.js';

const TIME = 120_000;

/** Damaged nightly files, which must change no user: the run waits for approval, fails, or only its rows fail. */
let stage: Stage;
/** Data sets that are unchanged since their first file. */
const fresh = new Map<Disaster['base'], Map<number, Dataset>>();
beforeAll(async () => {
  stage = await Stage.open();
}, TIME);
afterAll(() => stage.close());

test.each(addSizes(DISASTERS))(
  'a damaged import file changes no user: %s (%i users)',
  async (_, size, disaster) => {
    const { base, before, file, options, stops } = disaster;
    const untouched = fresh.get(base) ?? new Map<number, Dataset>();
    fresh.set(base, untouched);
    const known = before.length === 0 ? untouched.get(size) : undefined;
    const dataset = known ?? stage.addDataset(size, base);
    if (known === undefined) await stage.begin(dataset, before);
    untouched.delete(size);
    const mark = await stage.readMark();
    const run = await stage.import(dataset, file(dataset.people, dataset.name), options);
    const [found, after] = [stopsOf(run), await stage.readMark()];
    // The next case reuses this data set only if the run has changed nothing.
    if (before.length === 0 && after === mark && ['needs_approval', 'failed'].includes(run.state)) {
      untouched.set(size, dataset);
    }
    expect({ run: formatRun(run), stopped: found.some((stop) => stops.includes(stop)), after }).toEqual({
      run: formatRun(run),
      stopped: true,
      after: mark,
    });
  },
  TIME,
);

test(
  'six shrinking nightly imports block at most ten of 50 users',
  async () => {
    const dataset = stage.addDataset(50, keep);
    await stage.begin(dataset);
    const runs: Json[] = [];
    for (let night = 1; night <= 6; night++) {
      runs.push(await stage.import(dataset, drop(() => night * 5)(dataset.people)));
    }
    const written = runs.filter(({ state }) => state === 'completed');
    const blocked = written.map(({ missing }): number => missing.blocked);
    expect(blocked.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(10);
    expect(runs.at(-1).state).toBe('needs_approval');
  },
  TIME,
);

test('docs/imports.md states the number of tested disaster scenarios', () => {
  const guide = readFileSync(join(ROOT, 'docs/imports.md'), 'utf8').replace(/\s+/g, ' ');
  expect(guide).toContain(`${DISASTERS.length} disasters`);
});
