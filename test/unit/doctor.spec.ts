import { expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { poolCheck } from '../../src/cli/doctor-checks.js';
import { nodeCheck } from '../../src/cli/doctor-checks.js';

const level = ([finding]: { level: string }[]) => finding?.level;

test.each([
  ['18.20.4', 'fail'],
  ['20.18.9', 'fail'],
  ['20.19.0', 'ok'],
  ['20.20.2', 'ok'],
  ['21.0.0', 'ok'],
  ['100.0.0', 'ok'],
])('Node %s: %s', (version, expected) => {
  expect(level(nodeCheck(version))).toBe(expected);
});

test('the version of Node that is asked for is the one of package.json', () => {
  const { engines } = JSON.parse(readFileSync('package.json', 'utf8')) as { engines: { node: string } };
  const [finding] = nodeCheck('1.0.0');
  expect(engines.node).toMatch(/^>=\d+\.\d+$/);
  expect(finding?.message).toContain(`install ${engines.node.slice(2)} or later`);
});

test.each([
  [10, 1, 151, 'ok'],
  [151, 1, 151, 'ok'],
  [152, 1, 151, 'warn'],
  [50, 3, 151, 'ok'],
  [50, 4, 151, 'warn'],
])(
  'a pool of %d in each of %d workers where the server takes %d connections: %s',
  (size, workers, most, is) => {
    expect(level(poolCheck({ DATABASE_POOL_SIZE: size, WORKERS: workers }, most))).toBe(is);
  },
);
