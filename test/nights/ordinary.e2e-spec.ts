import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { counted } from '../support/app/imports.js';
import { ROOT } from '../support/process/process.js';
import { type Night, numbersOf } from './night.js';
import { NIGHTS } from './nights.js';
import { type Dataset, hitsOf, Stage, withSizes } from './stage.js';

const TIME = 120_000;

/** Files of ordinary nights: they pass without an approval, and do what they say. */
let stage: Stage;
/** Data sets that no file has changed since their first one. */
const fresh = new Map<Night['base'], Map<number, Dataset>>();
beforeAll(async () => {
  stage = await Stage.open();
}, TIME);
afterAll(() => stage.close());

async function begun(night: Night, size: number): Promise<Dataset> {
  const known = night.before.length === 0 && !night.empty ? fresh.get(night.base)?.get(size) : undefined;
  if (known) return known;
  const dataset = stage.dataset(size, night.base);
  if (night.empty) await night.empty(stage, dataset.people);
  else await stage.begin(dataset, night.before);
  return dataset;
}

test.each(withSizes(NIGHTS))(
  '%s, %i people',
  async (_, size, night) => {
    const dataset = await begun(night, size);
    const rows = night.file(dataset.people, dataset.name);
    const run = await stage.import(dataset, night.form?.(rows) ?? rows, night.options);
    const { error = 0, ...numbers } = counted(run);
    const found = {
      ...numbers,
      ...(error > 0 && { error }),
      ...(run.missing.blocked > 0 && { missing: run.missing.blocked }),
    };
    const expected = numbersOf(night.expected, size, rows.length);
    // Where nobody is changed, the next case begins with this data set.
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

test('the guide says how many ordinary nights are tried', () => {
  const guide = readFileSync(join(ROOT, 'docs/imports.md'), 'utf8');
  expect(guide).toContain(`${NIGHTS.length} ordinary nights`);
});
