import { describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { type Node, listRecommendations, findConflicts } from '../../src/operations/doctor/topology.js';
import { checkClock, checkNode, checkPool } from '../../src/operations/doctor/doctor-checks.js';
import { addSeconds, now } from '../../src/platform/common/time.js';
import type { Sql } from '../../src/platform/database/engine/sql.js';

const levelOf = ([finding]: { level: string }[]) => finding?.level;

test.each([
  ['20.20.2', 'fail'],
  ['22.9.9', 'fail'],
  ['22.23.0', 'ok'],
  ['100.0.0', 'ok'],
])('the doctor rates Node.js %s as %s', (version, expected) => {
  expect(levelOf(checkNode(version))).toBe(expected);
});

test('the doctor requires the Node.js version of package.json', () => {
  const { engines } = JSON.parse(readFileSync('package.json', 'utf8')) as { engines: { node: string } };
  const [finding] = checkNode('1.0.0');
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
  'the doctor rates %d connections per instance, %d instances, limit %d as %s',
  (size, workers, most, is) => {
    expect(levelOf(checkPool({ DATABASE_POOL_SIZE: size, WORKERS: workers }, most))).toBe(is);
  },
);

test.each<['sqlite' | 'mysql', number, string]>([
  ['mysql', 0, 'ok'],
  ['mysql', -10, 'warn'],
  ['mysql', 10, 'warn'],
  ['mysql', -400, 'fail'],
  ['mysql', 400, 'fail'],
  ['sqlite', -400, 'ok'],
  ['sqlite', 10, 'warn'],
  ['sqlite', 400, 'fail'],
])('on %s, the doctor rates a clock %d s ahead as %s', async (dialect, seconds, expected) => {
  const queryOne = async () => ({ time: addSeconds(now(), seconds) });
  expect(levelOf(await checkClock({ dialect, queryOne } as unknown as Sql))).toBe(expected);
});

describe('the doctor', () => {
  const DURABLE = {
    innodb_flush_log_at_trx_commit: '1',
    log_bin: 'ON',
    sync_binlog: '1',
    max_allowed_packet: '16777216',
    binlog_format: 'ROW',
  };
  const node = (name: string, facts: Record<string, string> = {}, more: Partial<Node> = {}): Node => ({
    name,
    version: '10.11',
    writability: 'writable',
    isGalera: false,
    facts: new Map(Object.entries({ ...DURABLE, ...facts })),
    ...more,
  });
  const CLUSTER = { wsrep_cluster_state_uuid: 'u', wsrep_cluster_size: '3', innodb_autoinc_lock_mode: '2' };
  const galera = (name: string, facts: Record<string, string> = {}) =>
    node(name, { ...CLUSTER, ...facts }, { isGalera: true });

  const UNFLUSHED = { innodb_flush_log_at_trx_commit: '0' };

  test.each<[string, Node, RegExp]>([
    ['an unflushed transaction log', node('a', { innodb_flush_log_at_trx_commit: '2' }), /loses changes/],
    ['small packets', node('a', { max_allowed_packet: '4194304' }), /set max_allowed_packet=16M/],
    ['an unflushed binary log', node('a', { sync_binlog: '0' }), /set sync_binlog=1/],
    ['an unflushed transaction log on a cluster', galera('a', UNFLUSHED), /this node/],
    ['a binary log format other than ROW', galera('a', { binlog_format: 'MIXED' }), /set binlog_format=ROW/],
    ['auto-increment locks', galera('a', { innodb_autoinc_lock_mode: '1' }), /innodb_autoinc_lock_mode=2/],
    ['a cluster of two nodes', galera('a', { wsrep_cluster_size: '2' }), /garbd/],
  ])('advises against %s', (_, server, text) => {
    expect(listRecommendations(server)).toEqual([expect.stringMatching(text)]);
  });
  test('has no advice for correctly configured database servers', () => {
    for (const good of [node('a'), galera('a'), node('a', { log_bin: 'OFF', sync_binlog: '0' })]) {
      expect(listRecommendations(good)).toEqual([]);
    }
  });
  test('requires one writable database server or cluster', () => {
    const replica = (name: string) => node(name, {}, { writability: 'read_only' });
    expect(findConflicts([node('a'), replica('b')])).toEqual([]);
    expect(findConflicts([galera('a'), galera('b')])).toEqual([]);
    expect(findConflicts([node('a'), replica('b'), node('c')])).toEqual([
      expect.stringMatching(/^a and c are writable/),
    ]);
    expect(findConflicts([galera('a'), galera('b', { wsrep_cluster_state_uuid: 'v' })])).toHaveLength(1);
    expect(findConflicts([replica('a'), replica('b')])).toEqual([
      expect.stringMatching(/no server is writable/),
    ]);
  });
});
