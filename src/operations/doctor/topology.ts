import { type Server, serversOf } from '../../platform/database/engine/connection-options.js';
import { type Rows, runQuery } from '../../platform/database/mysql/mysql-statement.js';
import {
  type ServerSession,
  endSession,
  openSession,
  writeStateOf,
} from '../../platform/database/mysql/session.js';
import type { Env } from '../../platform/config/env.js';
import { type Finding, codeOf, fail, ok, warn } from './finding.js';

/** Settings and status variables of a server, by their lower-case names. */
type Facts = ReadonlyMap<string, string>;

/** Server of `DATABASE_URL` that has answered. */
export interface Node {
  name: string;
  version: string;
  writability: ReturnType<typeof writeStateOf>;
  isGalera: boolean;
  facts: Facts;
}

const VARIABLES = [
  'binlog_format',
  'log_bin',
  'sync_binlog',
  'innodb_flush_log_at_trx_commit',
  'innodb_autoinc_lock_mode',
  'auto_increment_increment',
  'auto_increment_offset',
  'max_allowed_packet',
  'wsrep_sync_wait',
];
const STATUS = [
  'wsrep_cluster_size',
  'wsrep_cluster_state_uuid',
  'wsrep_local_state_comment',
  'slaves_running',
];
/** The default of MariaDB. Smaller packets cannot hold the statements of imports and restores. */
const MIN_PACKET_BYTES = 16 * 1024 ** 2;
const quote = (names: readonly string[]) => names.map((name) => `'${name}'`).join(', ');

export async function checkTopology(env: Env): Promise<Finding[]> {
  const results = await Promise.all(serversOf(env).map(inspectServer));
  const nodes = results.flatMap((result) => ('facts' in result ? [result] : []));
  const silent = results.flatMap((result) => ('code' in result ? [result] : []));
  const isAlone = results.length === 1;
  return [
    ...nodes.flatMap((node) => ok('host', describeNode(node))),
    ...silent.flatMap(({ name, code }) =>
      (isAlone ? fail : warn)('host', `${name} does not answer (${code}). Check that it is running`),
    ),
    ...nodes.flatMap((node) =>
      listRecommendations(node).flatMap((text) => warn('host', `${node.name}: ${text}`)),
    ),
    ...findConflicts(nodes).flatMap((text) => warn('hosts', text)),
  ];
}

async function inspectServer(server: Server): Promise<Node | { name: string; code: string }> {
  const { name } = server;
  try {
    const session = await openSession(server);
    const facts = await readFacts(session).finally(() => endSession(session));
    const { version, galera } = session.state;
    const writability = writeStateOf(session.state);
    return { name, version, writability, isGalera: galera !== undefined, facts };
  } catch (error) {
    return { name, code: codeOf(error) };
  }
}

async function readFacts({ connection }: ServerSession): Promise<Facts> {
  type Named = { Variable_name: string; Value: string };
  const queryServerValues = (kind: string, names: readonly string[]) =>
    runQuery<Rows<Named>>(connection, `SHOW GLOBAL ${kind} WHERE Variable_name IN (${quote(names)})`);
  const found = [
    ...(await queryServerValues('VARIABLES', VARIABLES)),
    ...(await queryServerValues('STATUS', STATUS)),
  ];
  return new Map(found.map(({ Variable_name, Value }) => [Variable_name.toLowerCase(), Value]));
}

const STATES = { writable: 'writable', read_only: 'read-only', out_of_sync: 'out of sync' } as const;

function describeNode({ name, version, writability, isGalera, facts }: Node): string {
  const replica = Number(facts.get('slaves_running') ?? 0) > 0 ? ', a replica' : '';
  const role = isGalera
    ? `Galera ${facts.get('wsrep_local_state_comment') ?? ''}, ${facts.get('wsrep_cluster_size') ?? ''} nodes`
    : `no cluster${replica}`;
  const shown = ['innodb_flush_log_at_trx_commit', 'log_bin', 'sync_binlog', 'binlog_format'];
  if (isGalera) shown.push('auto_increment_increment', 'auto_increment_offset', 'wsrep_sync_wait');
  const settings = shown.map((setting) => `${setting}=${facts.get(setting) ?? 'none'}`).join(' ');
  return `${name}  ${version}  ${role}, ${STATES[writability]}  ${settings}`;
}

export function listRecommendations({ isGalera, facts }: Node): string[] {
  const isSetTo = (name: string, value: string) => facts.get(name)?.toUpperCase() === value;
  const texts: string[] = [];
  if (!isSetTo('innodb_flush_log_at_trx_commit', '1')) {
    texts.push(
      isGalera
        ? 'innodb_flush_log_at_trx_commit is not 1: changes survive the loss of this node, but not the loss of all nodes at once'
        : 'set innodb_flush_log_at_trx_commit=1. Otherwise a crash of the machine loses changes that were acknowledged',
    );
  }
  if (isSetTo('log_bin', 'ON') && !isSetTo('sync_binlog', '1') && !isGalera) {
    texts.push('set sync_binlog=1. Otherwise replicas may have changes that this server loses in a crash');
  }
  if (Number(facts.get('max_allowed_packet')) < MIN_PACKET_BYTES) {
    texts.push(
      'set max_allowed_packet=16M. Otherwise the server refuses large changes and rows of a restore',
    );
  }
  if (isGalera && !isSetTo('binlog_format', 'ROW')) {
    texts.push('set binlog_format=ROW. With other formats, Galera fails or its nodes differ');
  }
  if (isGalera && !isSetTo('innodb_autoinc_lock_mode', '2')) {
    texts.push('set innodb_autoinc_lock_mode=2, which Galera requires');
  }
  if (isGalera && Number(facts.get('wsrep_cluster_size')) === 2) {
    texts.push('a cluster of two nodes stops when one of them fails. Add a node, or run garbd elsewhere');
  }
  return texts;
}

/** Returns faults that concern several servers, such as two writable servers that do not form a cluster. */
export function findConflicts(nodes: readonly Node[]): string[] {
  const writers = nodes.filter(({ writability }) => writability === 'writable');
  const clusters = new Set(
    nodes.filter(({ isGalera }) => isGalera).map(({ facts }) => facts.get('wsrep_cluster_state_uuid')),
  );
  const isOneCluster = clusters.size === 1 && nodes.every(({ isGalera }) => isGalera);
  if (nodes.length > 0 && writers.length === 0) return ['no server is writable: the service answers 503'];
  if (writers.length > 1 && !isOneCluster) {
    const names = writers.map(({ name }) => name).join(' and ');
    return [
      `${names} are writable but do not form one cluster: changes on one are missing on the other. ` +
        'Set read_only=1 in the configuration of every server, and clear it only on the primary',
    ];
  }
  return [];
}
