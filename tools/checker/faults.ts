import { setTimeout as delay } from 'node:timers/promises';
import { oneOf } from '../../test/support/data/random.js';
import type { Link } from '../../test/support/process/link.js';
import type { Program } from '../bench/faults/servers.js';
import type { Galera, GaleraNode } from '../galera.js';

type Random = (below: number) => number;

/** Something that goes wrong, and is right again when the promise resolves. */
export interface Fault {
  name: string;
  /** What it happens to. Two faults happen at once only to different things. */
  to: object;
  strike(random: Random): Promise<void>;
}

const ARRIVALS = [false, 'at once', true] as const;
const RESTART_WAIT = 60_000;

/** Starts a program that may find that what it needs is not there yet, as a supervisor does. */
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

const killed = async (program: Program, random: Random): Promise<void> => {
  await program.end('SIGKILL');
  await delay(random(1000));
  await restart(program);
};

async function frozen(program: Program, millis: number): Promise<void> {
  program.freeze(true);
  await delay(millis);
  program.freeze(false);
}

/** Faults of an instance. */
export function instanceFaults(instances: readonly Program[]): Fault[] {
  const fault = (name: string, strike: (instance: Program, random: Random) => Promise<void>): Fault => ({
    name,
    to: instances,
    strike: (random) => strike(instances[random(instances.length)] as Program, random),
  });
  return [
    fault('kill -9 of an instance', killed),
    // As an operator restarts it: requests in flight are answered first.
    fault('SIGTERM of an instance', async (instance) => {
      await instance.end('SIGTERM');
      await restart(instance);
    }),
    // The instance holds locks and leases for longer than it knows.
    fault('an instance frozen', (instance, random) => frozen(instance, 500 + random(8000))),
  ];
}

/** Faults of a database that has one server. */
export const databaseFaults = (database: Program): Fault[] => [
  { name: 'kill -9 of the database', to: database, strike: (random) => killed(database, random) },
  { name: 'the database frozen', to: database, strike: (random) => frozen(database, 500 + random(3000)) },
];

/** Faults of the connections between instances and their database. */
export function connectionFaults(links: readonly Link[]): Fault[] {
  const pickLink = (random: Random): Link => links[random(links.length)] as Link;
  return [
    {
      name: 'connections cut during COMMIT',
      to: links,
      strike: async (random) => {
        const link = pickLink(random);
        // One to five COMMITs in a row lose their connection.
        const arrives = Array.from({ length: 1 + random(5) }, () => oneOf(random, ARRIVALS));
        link.breakAt('COMMIT', { arrives });
        await delay(500 + random(500));
        link.calm();
      },
    },
    {
      name: 'all connections of an instance broken',
      to: links,
      strike: (random) => {
        pickLink(random).breakAll();
        return Promise.resolve();
      },
    },
  ];
}

/** The faults of a node; each ends when the cluster is whole again. */
export function nodeFaults(galera: Galera): Fault[] {
  const fault = (name: string, strike: (node: GaleraNode, random: Random) => Promise<void>): Fault => ({
    name,
    // One node at a time: two of three are needed.
    to: galera,
    strike: async (random) => {
      await strike(galera.nodes[random(galera.nodes.length)] as GaleraNode, random);
      await galera.whole();
    },
  });
  return [
    fault('kill -9 of a node', killed),
    fault('a node frozen', (node, random) => frozen(node, 1500 + random(5000))),
    fault('a node isolated', async (node, random) => {
      await node.isolate(true);
      await delay(3000 + random(4000));
      await node.isolate(false);
    }),
  ];
}
