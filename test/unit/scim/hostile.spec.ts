import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { ProblemError } from '../../../src/platform/common/errors.js';
import { buildMatcher } from '../../../src/scim/protocol/filter.js';
import { parseFilter } from '../../../src/scim/protocol/filter-parser.js';
import { readResource } from '../../../src/scim/protocol/input.js';
import { Projection } from '../../../src/scim/protocol/projection.js';
import { applySteps, readPatch } from '../../../src/scim/protocol/patch.js';
import { JANE, USER } from './resources.js';
import { filter, operation, value } from '../../support/data/fuzz-scim.js';
import { service } from '../../support/jest/native.js';

/** Returns true if the input is accepted. Any error outside the error catalogue fails the test. */
async function isAccepted(run: () => unknown): Promise<boolean> {
  try {
    await run();
    return true;
  } catch (error) {
    if (error instanceof ProblemError) return false;
    throw error;
  }
}

test('hostile SCIM input causes only errors of the error catalogue', async () => {
  const options = { resource: USER, ignoreUnknown: false, countDeviation: () => undefined };
  const before = Object.getOwnPropertyNames(service.Object.prototype).length;
  let passed = 0;
  const property = fc.asyncProperty(
    filter,
    fc.array(operation, { maxLength: 3 }),
    value,
    async (...input) => {
      const [text, Operations, body] = input;
      passed += Number(await isAccepted(() => buildMatcher(parseFilter(text, USER))(JANE)));
      passed += Number(
        await isAccepted(async () => applySteps(JANE, await readPatch({ Operations }, options), options)),
      );
      await isAccepted(() => readResource(body, USER));
      await isAccepted(() => new Projection(USER, { attributes: text }).apply(JANE));
    },
  );
  await fc.assert(property, { numRuns: 10_000, seed: 14 });
  expect(passed).toBeGreaterThan(100);
  expect(Object.getOwnPropertyNames(service.Object.prototype)).toHaveLength(before);
});
