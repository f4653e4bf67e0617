import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { type Target, type TargetName, startTarget } from '../../tools/checker/targets.js';
import { check } from '../../tools/checker/check.js';
import { saveHistory } from '../../tools/checker/report.js';
import { ENGINE } from '../support/app/database.js';
import { galeraMissing } from '../../tools/galera.js';

/** CHECK_SEED repeats the choices of a run; their timing is new every time. */
const seed = Number(process.env['CHECK_SEED'] ?? Date.now() % 1_000_000);

let target: Target | undefined;
/** A cluster starts while the previous test runs, as it takes most of a minute and little CPU. */
let cluster: Promise<Target> | undefined;
afterEach(async () => {
  await target?.remove();
  target = undefined;
});

/** Injects every fault at least once, even if that takes longer than these seconds. */
async function keeps(name: TargetName, seconds: number): Promise<void> {
  target = await (name === 'galera' && cluster ? cluster : startTarget(name));
  if (name === 'galera') cluster = undefined;
  const checked = await check(target, { seconds, seed });
  const { broken, effects, faults } = checked;
  const examples = broken.slice(0, 20).map(({ promise, text }) => `${promise}: ${text}`);
  const history = broken.length > 0 ? saveHistory(checked, `${name}-${seed}`) : 'not kept';
  expect({ seed, faults: broken.length, examples, history }).toMatchObject({ faults: 0, examples: [] });
  expect(effects['done']).toBeGreaterThan(100);
  expect(Object.keys(faults).toSorted()).toEqual(target.faults.map((fault) => fault.name).toSorted());
}

describe('promises under faults', () => {
  const missing = galeraMissing();
  if (ENGINE === 'sqlite') {
    it('a killed instance keeps every change that it has acknowledged', () => keeps('sqlite', 5), 120_000);
  } else {
    beforeAll(() => {
      if (missing !== undefined) return;
      cluster = startTarget('galera');
      cluster.catch(() => undefined); // the test that awaits it fails
    });
    afterAll(async () => (await cluster)?.remove());
    it('two instances keep it while they and the database are killed and COMMITs are cut', async () => {
      await keeps('mariadb', 10);
    }, 240_000);
    const name = 'three instances on three Galera nodes keep it while nodes are killed, frozen and isolated';
    if (missing === undefined) it(name, () => keeps('galera', 15), 400_000);
    else it.skip(`${name} (${missing})`, () => undefined);
  }
});
