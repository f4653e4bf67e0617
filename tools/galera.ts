import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Connection, createConnection } from 'mysql2/promise';
import { Program, installDatabase } from './servers.js';
import { freePort } from './free-port.js';

const PROVIDER = '/usr/lib/galera/libgalera_smm.so';
const DATABASE = 'rollcall';
/** Seconds without a message after which a node is removed from the cluster. */
const SUSPECT_SECONDS = 3;

/**
 * User of the servers. It is not root, because the rsync daemon of root runs as a user who cannot write to the data
 * directory.
 */
const USER = userInfo().uid === 0 ? 'mysql' : userInfo().username;

/** Returns the reason why no cluster can be started on this machine, or undefined. */
export function findMissingGalera(): string | undefined {
  if (!existsSync(PROVIDER)) return 'galera-4 is not installed';
  if (spawnSync('mariadbd', ['--version']).status !== 0) return 'mariadbd is not installed';
  if (spawnSync('rsync', ['--version']).status !== 0) return 'rsync is not installed';
  return undefined;
}

interface Ports {
  sql: number;
  group: number;
  ist: number;
  sst: number;
}

/** One `mariadbd` of a cluster on the loopback interface. */
export class GaleraNode extends Program {
  /** True during the first start of the first node. */
  private bootstrap = false;

  constructor(
    readonly folder: string,
    private readonly name: string,
    readonly ports: Ports,
    private readonly members: string,
  ) {
    super();
    this.log = join(folder, 'log');
  }

  get address(): string {
    return `127.0.0.1:${this.ports.sql}`;
  }

  /** Starts the first node, which forms the cluster that other nodes join. */
  async bootstrapCluster(): Promise<void> {
    this.bootstrap = true;
    await this.start();
    this.bootstrap = false;
  }

  /** Returns true if the node is a member of the primary component and has caught up. */
  async isReady(): Promise<boolean> {
    await delay(100);
    const state = await this.query("SHOW STATUS LIKE 'wsrep_local_state_comment'").catch(() => '');
    return state === 'Synced';
  }

  /** Isolates the node from the other nodes, or lets it join again. Clients can still connect to it. */
  async setIsolated(isolated: boolean): Promise<void> {
    await this.query(`SET GLOBAL wsrep_provider_options = 'gmcast.isolate=${isolated ? 1 : 0}'`);
  }

  /** Runs a statement. @returns the last column of the first row, as text. */
  async query(sql: string): Promise<string> {
    let connection: Connection | undefined;
    try {
      connection = await createConnection({
        host: '127.0.0.1',
        port: this.ports.sql,
        user: 'root',
        connectTimeout: 2000,
      });
      const [rows] = await connection.query({ sql, rowsAsArray: true, timeout: 5000 });
      const first: unknown = Array.isArray(rows) ? rows[0] : undefined;
      return Array.isArray(first) ? String(first.at(-1)) : '';
    } finally {
      connection?.destroy();
    }
  }

  protected command(): [string, string[], NodeJS.ProcessEnv] {
    const { folder, ports, name, members } = this;
    const provider = [
      `gmcast.listen_addr=tcp://127.0.0.1:${ports.group}`,
      `ist.recv_addr=127.0.0.1:${ports.ist}`,
      'gcache.size=64M',
      'evs.keepalive_period=PT0.5S',
      `evs.suspect_timeout=PT${SUSPECT_SECONDS}S`,
      `evs.inactive_timeout=PT${2 * SUSPECT_SECONDS}S`,
    ];
    return [
      'mariadbd',
      [
        '--no-defaults',
        `--user=${USER}`,
        `--datadir=${join(folder, 'data')}`,
        `--socket=${join(folder, 's')}`,
        `--tmpdir=${folder}`,
        `--port=${ports.sql}`,
        '--bind-address=127.0.0.1',
        '--skip-name-resolve',
        '--max-connections=300',
        '--binlog-format=ROW',
        '--innodb-autoinc-lock-mode=2',
        // Only processes are killed, never the machine, so data in the kernel is safe.
        '--innodb-flush-log-at-trx-commit=2',
        '--innodb-buffer-pool-size=64M',
        '--wsrep-on=ON',
        `--wsrep-provider=${PROVIDER}`,
        `--wsrep-provider-options=${provider.join(';')}`,
        `--wsrep-cluster-address=gcomm://${members}`,
        '--wsrep-cluster-name=rollcall',
        `--wsrep-node-name=${name}`,
        '--wsrep-node-address=127.0.0.1',
        `--wsrep-sst-receive-address=127.0.0.1:${ports.sst}`,
        '--wsrep-sst-method=rsync',
        '--wsrep-slave-threads=4',
        ...(this.bootstrap ? ['--wsrep-new-cluster'] : []),
      ],
      process.env,
    ];
  }
}

/** A throwaway Galera cluster of three nodes on the loopback interface, with an empty database. */
export class Galera {
  private constructor(
    private readonly folder: string,
    readonly nodes: readonly GaleraNode[],
  ) {}

  static async create(): Promise<Galera> {
    const folder = mkdtempSync(join(tmpdir(), 'rollcall-galera-'));
    installDatabase(join(folder, 'empty'));
    const ports: Ports[] = [];
    for (let index = 0; index < 3; index++) {
      const [sql, group, ist, sst] = [await freePort(), await freePort(), await freePort(), await freePort()];
      ports.push({ sql, group, ist, sst });
    }
    const members = ports.map(({ group }) => `127.0.0.1:${group}`).join(',');
    const nodes = ports.map((own, index) => {
      const nodeFolder = join(folder, `node${index}`);
      cpSync(join(folder, 'empty'), join(nodeFolder, 'data'), { recursive: true });
      return new GaleraNode(nodeFolder, `node${index}`, own, members);
    });
    if (USER !== userInfo().username) {
      chmodSync(folder, 0o755);
      execFileSync('chown', ['-R', USER, folder]);
    }
    const galera = new Galera(folder, nodes);
    try {
      await nodes[0]?.bootstrapCluster();
      for (const node of nodes.slice(1)) await node.start();
      await nodes[0]?.query(`CREATE DATABASE ${DATABASE} CHARACTER SET utf8mb4`);
    } catch (error) {
      await galera.remove();
      throw error;
    }
    return galera;
  }

  /** Returns a URL with all nodes, beginning with the given node. */
  urlOf(first: GaleraNode): string {
    const others = this.nodes.filter((node) => node !== first);
    return `mysql://root@${[first, ...others].map(({ address }) => address).join(',')}/${DATABASE}`;
  }

  /**
   * Waits until all nodes are in one component and have caught up in two consecutive checks, because a resumed node
   * notices late that it was removed.
   */
  async waitUntilWhole(): Promise<void> {
    for (let passed = 0; passed < 2;) {
      await delay(500);
      const states = await Promise.all(
        this.nodes.map(async (node) => {
          const size = await node.query("SHOW STATUS LIKE 'wsrep_cluster_size'").catch(() => '');
          return Number(size) === this.nodes.length && (await node.isReady());
        }),
      );
      passed = states.every(Boolean) ? passed + 1 : 0;
    }
  }

  async remove(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.end('SIGKILL')));
    rmSync(this.folder, { recursive: true, force: true });
  }
}
