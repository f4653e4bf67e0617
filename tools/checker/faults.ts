import { setTimeout as delay } from 'node:timers/promises';
import { pickOne } from '../../test/support/data/random.js';
import type { Link } from '../../test/support/process/link.js';
import type { Program } from '../servers.js';
import type { Galera, GaleraNode } from '../galera.js';

type Random = (below: number) => number;

/** A fault that is injected and repaired. It is over when the promise resolves. */
export interface Fault {
  name: string;
  /** Target of the fault. Two faults at the same time have different targets. */
  to: object;
  inject(random: Random): Promise<void>;
}

const ARRIVALS = [false, 'at once', true] as const;
const RESTART_WAIT = 60_000;

/** Starts a program repeatedly, as a supervisor does, because a program that it needs may not be running yet. */
async function restart(program: Program): Promise<void> {
  const until = performance.now() + RESTART_WAIT;
  for (;;) {
    try {
      await program.start();
      return;
    } catch (error) {
      if (performance.now() > until) throw error;
      await delay(250);
    }
  }
}

const killAndRestart = async (program: Program, random: Random): Promise<void> => {
  await program.end('SIGKILL');
  await delay(random(1000));
  await restart(program);
};

async function freeze(program: Program, millis: number): Promise<void> {
  program.setFrozen(true);
  await delay(millis);
  program.setFrozen(false);
}

/** Returns the faults of instances. */
export function instanceFaults(instances: readonly Program[]): Fault[] {
  const fault = (name: string, strike: (instance: Program, random: Random) => Promise<void>): Fault => ({
    name,
    to: instances,
    inject: (random) => strike(instances[random(instances.length)] as Program, random),
  });
  return [
    fault('kill -9 of an instance', killAndRestart),
    // A restart by an operator. Requests in flight are completed first.
    fault('SIGTERM of an instance', async (instance) => {
      await instance.end('SIGTERM');
      await restart(instance);
    }),
    // The instance holds locks and leases longer than it notices.
    fault('an instance frozen', (instance, random) => freeze(instance, 500 + random(8000))),
  ];
}

/** Returns the faults of a single database server. */
export const databaseFaults = (database: Program): Fault[] => [
  { name: 'kill -9 of the database', to: database, inject: (random) => killAndRestart(database, random) },
  { name: 'the database frozen', to: database, inject: (random) => freeze(database, 500 + random(3000)) },
];

/** Returns the faults of the connections between instances and their database. */
export function connectionFaults(links: readonly Link[]): Fault[] {
  const pickLink = (random: Random): Link => links[random(links.length)] as Link;
  return [
    {
      name: 'connections cut during COMMIT',
      to: links,
      inject: async (random) => {
        const link = pickLink(random);
        // One to five consecutive COMMITs lose their connection.
        const arrives = Array.from({ length: 1 + random(5) }, () => pickOne(random, ARRIVALS));
        link.breakAt('COMMIT', { arrives });
        await delay(500 + random(500));
        link.clearTraps();
      },
    },
    {
      name: 'all connections of an instance broken',
      to: links,
      inject: (random) => {
        pickLink(random).breakAll();
        return Promise.resolve();
      },
    },
  ];
}

/** Returns the faults of cluster nodes. Each fault ends when the cluster has recovered. */
export function nodeFaults(galera: Galera): Fault[] {
  const fault = (name: string, strike: (node: GaleraNode, random: Random) => Promise<void>): Fault => ({
    name,
    // One node at a time, because two of three are needed.
    to: galera,
    inject: async (random) => {
      await strike(galera.nodes[random(galera.nodes.length)] as GaleraNode, random);
      await galera.waitUntilWhole();
    },
  });
  return [
    fault('kill -9 of a node', killAndRestart),
    fault('a node frozen', (node, random) => freeze(node, 1500 + random(5000))),
    fault('a node isolated', async (node, random) => {
      await node.setIsolated(true);
      await delay(3000 + random(4000));
      await node.setIsolated(false);
    }),
  ];
}
