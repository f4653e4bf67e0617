import { expect, test } from '@jest/globals';
import { setUpApp } from '../support/app/app.js';
import type { Json } from '../support/app/client.js';
import { countsOf } from '../support/app/imports.js';
import { drop } from './changes.js';
import { DISASTERS } from './disasters.js';
import { NIGHTS } from './nights.js';
import { createCase, hitsOf, Stage, stopsOf } from './stage.js';

// The fuse of the key would add up the users that all cases block within an hour.
const stage = new Stage(setUpApp({ FUSE_MIN: '0', IMPORT_GUARD_CREATED_ROWS: '20' }));

test.each(DISASTERS)(
  'a damaged import file changes no user: $name',
  async ({ file, options, stop, ...before }) => {
    const dataset = await stage.open(before);
    const mark = await stage.readMark();
    const run = await stage.import(dataset, file(dataset.people, dataset.name), options);
    expect(['failed', 'needs_approval']).toContain(run.state);
    expect(stopsOf(run)).toContain(stop);
    expect(await stage.readMark()).toBe(mark);
  },
);

test.each(NIGHTS)(
  'an ordinary import file passes without approval: $name',
  async ({ file, options, expected, ...before }) => {
    const dataset = await stage.open(before);
    const run = await stage.import(dataset, file(dataset.people, dataset.name), options);
    const missing = run.missing.blocked as number;
    const found = { ...countsOf(run), ...(missing > 0 && { missing }) };
    expect({ state: run.state, hits: hitsOf(run), reason: run.problems[0]?.code, found }).toEqual({
      state: 'completed',
      hits: [],
      reason: undefined,
      found: expected,
    });
  },
);

test('six shrinking nightly imports block at most ten of 50 users', async () => {
  const dataset = await stage.open(createCase('', (all) => all, {}));
  const runs: Json[] = [];
  for (let night = 1; night <= 6; night++)
    runs.push(await stage.import(dataset, drop(night * 5)(dataset.people)));
  const written = runs.filter(({ state }) => state === 'completed');
  const blocked = written.map(({ missing }): number => missing.blocked);
  expect(blocked.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(10);
  expect(runs.at(-1).state).toBe('needs_approval');
});
