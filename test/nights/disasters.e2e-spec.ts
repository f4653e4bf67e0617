import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../support/process/process.js';
import { gone } from './changes.js';
import type { Json } from '../support/app/client.js';
import { asTheyAre, type Disaster } from './disaster.js';
import { DISASTERS } from './disasters.js';
import { type Dataset, Stage, stopsOf, told, withSizes } from './stage.js';

const TIME = 120_000;

/** Nightly files that must stop before anybody is harmed: parked, refused, or with errors in the rows alone. */
let stage: Stage;
/** Data sets that no file has changed since their first one. */
const fresh = new Map<Disaster['base'], Map<number, Dataset>>();
beforeAll(async () => {
  stage = await Stage.open();
}, TIME);
afterAll(() => stage.close());

test.each(withSizes(DISASTERS))(
  '%s, %i people',
  async (_, size, disaster) => {
    const { base, before, file, options, stops } = disaster;
    const untouched = fresh.get(base) ?? new Map<number, Dataset>();
    fresh.set(base, untouched);
    const known = before.length === 0 ? untouched.get(size) : undefined;
    const dataset = known ?? stage.dataset(size, base);
    if (known === undefined) await stage.begin(dataset, before);
    untouched.delete(size);
    const mark = await stage.mark();
    const run = await stage.import(dataset, file(dataset.people, dataset.name), options);
    const [found, after] = [stopsOf(run), await stage.mark()];
    // The next case begins with this data set only where the run has left nothing behind.
    if (before.length === 0 && after === mark && ['needs_approval', 'failed'].includes(run.state)) {
      untouched.set(size, dataset);
    }
    expect({ run: told(run), stopped: found.some((stop) => stops.includes(stop)), after }).toEqual({
      run: told(run),
      stopped: true,
      after: mark,
    });
  },
  TIME,
);

test(
  'six nights that each lack five more of fifty people block ten at most',
  async () => {
    const dataset = stage.dataset(50, asTheyAre);
    await stage.begin(dataset);
    const runs: Json[] = [];
    for (let night = 1; night <= 6; night++) {
      runs.push(await stage.import(dataset, gone(() => night * 5)(dataset.people)));
    }
    const written = runs.filter(({ state }) => state === 'completed');
    const blocked = written.map(({ missing }): number => missing.blocked);
    expect(blocked.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(10);
    expect(runs.at(-1).state).toBe('needs_approval');
  },
  TIME,
);

test('the guide says how many disasters are tried', () => {
  const guide = readFileSync(join(ROOT, 'docs/imports.md'), 'utf8');
  expect(guide).toContain(`${DISASTERS.length} disasters`);
});
