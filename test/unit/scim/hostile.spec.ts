import { expect, test } from '@jest/globals';
import { ProblemError } from '../../../src/platform/common/errors.js';
import { buildMatcher } from '../../../src/scim/protocol/filter.js';
import { parseFilter } from '../../../src/scim/protocol/filter-parser.js';
import { readResource } from '../../../src/scim/protocol/input.js';
import { Projection } from '../../../src/scim/protocol/projection.js';
import { applySteps, readPatch } from '../../../src/scim/protocol/patch.js';
import { JANE, USER } from './resources.js';
import { USER_SCHEMA } from '../../../src/scim/protocol/urns.js';
import { pickOne, createRandom } from '../../support/data/random.js';
import { service } from '../../support/jest/native.js';

const PIECES = [
  ...['userName', 'emails', 'name.givenName', 'value', 'type', 'active', '$ref', 'meta.created', 'id'],
  ...['members', '__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'urn:', USER_SCHEMA],
  ...['eq', 'ne', 'co', 'pr', 'gt', 'and', 'or', 'not', '\\u', '"x"', ' ', ' ', ' '],
  ...Array.from('()[].,:"\\'),
  ...['true', 'null', '""', '1', '-0', '\0', '\n', '\ud800', 'ﬃ', 'İ', 'é\u0301', '𝒳'],
  '2026-01-01T00:00:00Z',
];

type Random = ReturnType<typeof createRandom>;

function createText(random: Random): string {
  return Array.from({ length: random(14) }, () => pickOne(random, PIECES)).join(random(2) ? ' ' : '');
}

function createJson(random: Random, depth: number): unknown {
  const choice = random(depth === 0 ? 5 : 8);
  if (choice < 2) return createText(random);
  if (choice < 5) return pickOne(random, [true, 'False', 7, '', 1e308]);
  const items = Array.from({ length: random(4) }, () => createJson(random, depth - 1));
  if (choice === 5) return items;
  return JSON.parse(
    `{${items.map((item) => `${JSON.stringify(pickOne(random, PIECES))}:${JSON.stringify(item)}`).join(',')}}`,
  );
}

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
  const random = createRandom(14);
  const options = { resource: USER, ignoreUnknown: false, countDeviation: () => undefined };
  const before = Object.getOwnPropertyNames(service.Object.prototype).length;
  let passed = 0;
  for (let i = 0; i < 20_000; i++) {
    const filter = createText(random);
    const op = pickOne(random, ['add', 'Replace', 'remove']);
    const path = random(3) ? createText(random) : undefined;
    const Operations = [{ op, path, value: createJson(random, 3) }];
    passed += Number(await isAccepted(() => buildMatcher(parseFilter(filter, USER))(JANE)));
    passed += Number(
      await isAccepted(async () => applySteps(JANE, await readPatch({ Operations }, options), options)),
    );
    await isAccepted(() => readResource(createJson(random, 3), USER));
    await isAccepted(() => new Projection(USER, { attributes: filter }).apply(JANE));
  }
  expect(passed).toBeGreaterThan(100);
  expect(Object.getOwnPropertyNames(service.Object.prototype)).toHaveLength(before);
});
