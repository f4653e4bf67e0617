import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { countsOf } from '../support/app/imports.js';
import { ROOT } from '../support/process/process.js';
import { type Night, resolveCounts } from './night.js';
import { NIGHTS } from './nights.js';
import { type Dataset, hitsOf, Stage, addSizes } from './stage.js';

const TIME = 120_000;

/** Files of ordinary nights, which pass without an approval and have the expected outcomes. */
let stage: Stage;
/** Data sets that are unchanged since their first file. */
const fresh = new Map<Night['base'], Map<number, Dataset>>();
beforeAll(async () => {
  stage = await Stage.open();
}, TIME);
afterAll(() => stage.close());

async function beginNight(night: Night, size: number): Promise<Dataset> {
  const known = night.before.length === 0 && !night.empty ? fresh.get(night.base)?.get(size) : undefined;
  if (known) return known;
  const dataset = stage.addDataset(size, night.base);
  if (night.empty) await night.empty(stage, dataset.people);
  else await stage.begin(dataset, night.before);
  return dataset;
}

test.each(addSizes(NIGHTS))(
  'an ordinary import file passes without approval: %s (%i users)',
  async (_, size, night) => {
    const dataset = await beginNight(night, size);
    const rows = night.file(dataset.people, dataset.name);
    const run = await stage.import(dataset, night.form?.(rows) ?? rows, night.options);
    const { error = 0, ...numbers } = countsOf(run);
    const found = {
      ...numbers,
      ...(error > 0 && { error }),
      ...(run.missing.blocked > 0 && { missing: run.missing.blocked }),
    };
    const expected = resolveCounts(night.expected, size, rows.length);
    // The next case reuses this data set if the run has changed no user.
    const changes = Object.keys(found).some((name) => name !== 'unchanged');
    const untouched = fresh.get(night.base) ?? new Map<number, Dataset>();
    fresh.set(night.base, untouched);
    if (changes || night.before.length > 0) untouched.delete(size);
    else untouched.set(size, dataset);
    expect({ state: run.state, hits: hitsOf(run), reason: run.problems[0]?.code, found }).toEqual({
      state: 'error' in expected ? 'completed_with_errors' : 'completed',
      hits: [],
      reason: 'error' in expected ? expect.anything() : undefined,
      found: expected,
    });
  },
  TIME,
);

test('docs/imports.md states the number of tested ordinary import files', () => {
  const guide = readFileSync(join(ROOT, 'docs/imports.md'), 'utf8').replace(/\s+/g, ' ');
  expect(guide).toContain(`${NIGHTS.length} ordinary nights`);
});
