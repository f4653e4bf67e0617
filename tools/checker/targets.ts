import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MariaDb, Service } from '../bench/faults/servers.js';
import { Galera } from '../galera.js';
import { CommitCutter } from './cutter.js';
import {
  type Fault,
  breakConnections,
  cutCommits,
  freezeDatabase,
  freezeInstance,
  killDatabase,
  killInstance,
  nodeFaults,
  restartInstance,
} from './faults.js';

/** The built service on some database, and what can go wrong there. */
export interface Target {
  name: string;
  instances: readonly Service[];
  faults: readonly Fault[];
  remove(): Promise<void>;
}

export const TARGETS = ['sqlite', 'mariadb', 'galera'] as const;
export type TargetName = (typeof TARGETS)[number];

/** Clients of one address fail logins on purpose. */
const SETTINGS = { LOG_LEVEL: 'warn', LOGIN_FAILURES_PER_NAME: '100000', LOGIN_FAILURES_PER_IP: '100000' };

const service = (settings: Record<string, string> = {}): Promise<Service> => {
  const folder = mkdtempSync(join(tmpdir(), 'rollcall-checker-'));
  return Service.make({ ...SETTINGS, ...settings }, folder, undefined, '.', true);
};

/** One instance on a file. */
async function sqlite(): Promise<Target> {
  const instances = [await service()];
  return target('sqlite', instances, [], () => Promise.resolve());
}

/** Two instances on one server, each over connections that can be cut. */
async function mariadb(): Promise<Target> {
  const database = await MariaDb.make();
  const cutters: CommitCutter[] = [];
  const instances: Service[] = [];
  const close = async (): Promise<void> => {
    await Promise.all(cutters.map((cutter) => cutter.close()));
    await database.remove();
  };
  try {
    for (let index = 0; index < 2; index++) {
      const cutter = await CommitCutter.to(Number(new URL(database.url).port));
      cutters.push(cutter);
      const url = new URL(database.url);
      url.port = String(cutter.port);
      instances.push(await service({ DATABASE_URL: url.href, WORKERS: String(1 + index) }));
    }
  } catch (error) {
    await close();
    throw error;
  }
  const faults = [
    killDatabase(database),
    freezeDatabase(database),
    cutCommits(cutters),
    breakConnections(cutters),
  ];
  return target('mariadb', instances, faults, close);
}

/** Three instances, each on a node of its own as long as that one serves. */
async function galera(): Promise<Target> {
  const cluster = await Galera.make();
  const instances: Service[] = [];
  try {
    for (const node of cluster.nodes) instances.push(await service({ DATABASE_URL: cluster.urlOf(node) }));
  } catch (error) {
    await cluster.remove();
    throw error;
  }
  return target('galera', instances, nodeFaults(cluster), () => cluster.remove());
}

function target(
  name: string,
  instances: readonly Service[],
  faults: readonly Fault[],
  close: () => Promise<void>,
): Target {
  const remove = async (): Promise<void> => {
    for (const instance of instances) await instance.remove();
    await close();
  };
  const own = [killInstance(instances), restartInstance(instances), freezeInstance(instances)];
  return { name, instances, faults: [...own, ...faults], remove };
}

export const startTarget = (name: TargetName): Promise<Target> => ({ sqlite, mariadb, galera })[name]();
