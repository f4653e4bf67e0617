import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { type Target, type TargetName, startTarget } from '../../tools/checker/targets.js';
import { runChecker } from '../../tools/checker/check.js';
import { saveHistory } from '../../tools/checker/report.js';
import { ENGINE } from '../support/app/database.js';
import { findMissingGalera } from '../../tools/galera.js';

/** CHECK_SEED repeats the random choices of a run, but not their timing. */
const seed = Number(process.env['CHECK_SEED'] ?? Date.now() % 1_000_000);

let target: Target | undefined;
/** The cluster starts during the previous test, because its start takes almost a minute and little CPU. */
let cluster: Promise<Target> | undefined;
afterEach(async () => {
  await target?.remove();
  target = undefined;
});

/** Expects that a target keeps its promises. Injects every fault at least once, even if that exceeds `seconds`. */
async function expectKept(name: TargetName, seconds: number): Promise<void> {
  target = await (name === 'galera' && cluster ? cluster : startTarget(name));
  if (name === 'galera') cluster = undefined;
  const checked = await runChecker(target, { seconds, seed });
  const { broken, effects, faults } = checked;
  const examples = broken.slice(0, 20).map(({ promise, text }) => `${promise}: ${text}`);
  const history = broken.length > 0 ? saveHistory(checked, `${name}-${seed}`) : 'not saved';
  expect({ seed, faults: broken.length, examples, history }).toMatchObject({ faults: 0, examples: [] });
  expect(effects['done']).toBeGreaterThan(100);
  expect(Object.keys(faults).toSorted()).toEqual(target.faults.map((fault) => fault.name).toSorted());
}

describe('data guarantees under faults', () => {
  const missing = findMissingGalera();
  if (ENGINE === 'sqlite') {
    it('a killed instance keeps every acknowledged change', () => expectKept('sqlite', 5));
  } else {
    beforeAll(() => {
      if (missing !== undefined) return;
      cluster = startTarget('galera');
      cluster.catch(() => undefined); // the test that awaits it fails
    });
    afterAll(async () => (await cluster)?.remove());
    it('two instances keep every acknowledged change', async () => {
      await expectKept('mariadb', 10);
    });
    const name = 'three instances on Galera keep every acknowledged change while nodes fail';
    if (missing === undefined) it(name, () => expectKept('galera', 15));
    else it.skip(`instances on Galera keep every acknowledged change (skipped: ${missing})`, () => undefined);
  }
});
