import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Link } from '../../test/support/process/link.js';
import { MariaDb, Service } from '../servers.js';
import { Galera } from '../galera.js';
import { type Fault, connectionFaults, databaseFaults, instanceFaults, nodeFaults } from './faults.js';

/** Instances of the built service on a database, with their possible faults. */
export interface Target {
  name: string;
  instances: readonly Service[];
  faults: readonly Fault[];
  remove(): Promise<void>;
}

export const TARGETS = ['sqlite', 'mariadb', 'galera'] as const;
export type TargetName = (typeof TARGETS)[number];

/** Settings of the instances. The limits are high, because clients of one address fail logins on purpose. */
const SETTINGS = { LOG_LEVEL: 'warn', LOGIN_FAILURES_PER_NAME: '100000', LOGIN_FAILURES_PER_IP: '100000' };

const startService = (settings: Record<string, string> = {}): Promise<Service> => {
  const folder = mkdtempSync(join(tmpdir(), 'rollcall-checker-'));
  return Service.create({ ...SETTINGS, ...settings }, folder, undefined, '.', true);
};

/** Starts one instance on a file. */
async function startSqlite(): Promise<Target> {
  return createTarget('sqlite', [await startService()], [], () => Promise.resolve());
}

/** Starts two instances on one server. Their connections to it can be cut. */
async function startMariadb(): Promise<Target> {
  const database = await MariaDb.create();
  const links: Link[] = [];
  const instances: Service[] = [];
  const close = async (): Promise<void> => {
    await Promise.all(links.map((link) => link.cut()));
    await database.remove();
  };
  try {
    for (let index = 0; index < 2; index++) {
      const link = await Link.open(database.url);
      links.push(link);
      const settings = { DATABASE_URL: link.rewriteUrl(database.url), WORKERS: String(1 + index) };
      instances.push(await startService(settings));
    }
  } catch (error) {
    await close();
    throw error;
  }
  const faults = [...databaseFaults(database), ...connectionFaults(links)];
  return createTarget('mariadb', instances, faults, close);
}

/** Starts three instances. Each prefers a different node. */
async function startGalera(): Promise<Target> {
  const cluster = await Galera.create();
  const instances: Service[] = [];
  try {
    for (const node of cluster.nodes)
      instances.push(await startService({ DATABASE_URL: cluster.urlOf(node) }));
  } catch (error) {
    await cluster.remove();
    throw error;
  }
  return createTarget('galera', instances, nodeFaults(cluster), () => cluster.remove());
}

function createTarget(
  name: string,
  instances: readonly Service[],
  faults: readonly Fault[],
  close: () => Promise<void>,
): Target {
  const remove = async (): Promise<void> => {
    for (const instance of instances) await instance.remove();
    await close();
  };
  return { name, instances, faults: [...instanceFaults(instances), ...faults], remove };
}

export const startTarget = (name: TargetName): Promise<Target> =>
  ({ sqlite: startSqlite, mariadb: startMariadb, galera: startGalera })[name]();
