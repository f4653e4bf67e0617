import { setTimeout as delay } from 'node:timers/promises';
import type { Program } from '../bench/faults/servers.js';
import type { Galera, GaleraNode } from '../galera.js';
import type { CommitCutter } from './cutter.js';

type Random = (below: number) => number;

/** Something that goes wrong, and is right again when the promise resolves. */
export interface Fault {
  name: string;
  /** What it happens to. Two faults happen at once only to different things. */
  to: object;
  strike(random: Random): Promise<void>;
}

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

export const killInstance = (instances: readonly Program[]): Fault => ({
  name: 'kill -9 of an instance',
  to: instances,
  strike: (random) => killed(instances[random(instances.length)] as Program, random),
});

export const killDatabase = (database: Program): Fault => ({
  name: 'kill -9 of the database',
  to: database,
  strike: (random) => killed(database, random),
});

/** As an operator restarts it: requests in flight are answered first. */
export const restartInstance = (instances: readonly Program[]): Fault => ({
  name: 'SIGTERM of an instance',
  to: instances,
  strike: async (random) => {
    const instance = instances[random(instances.length)] as Program;
    await instance.end('SIGTERM');
    await restart(instance);
  },
});

/** What it holds (locks, leases) is held for longer than it knows. */
export const freezeInstance = (instances: readonly Program[]): Fault => ({
  name: 'an instance frozen',
  to: instances,
  strike: (random) => frozen(instances[random(instances.length)] as Program, 500 + random(8000)),
});

export const freezeDatabase = (database: Program): Fault => ({
  name: 'the database frozen',
  to: database,
  strike: (random) => frozen(database, 500 + random(3000)),
});

async function frozen(program: Program, millis: number): Promise<void> {
  program.freeze(true);
  await delay(millis);
  program.freeze(false);
}

/** One to five COMMITs in a row lose their connection. */
export const cutCommits = (cutters: readonly CommitCutter[]): Fault => ({
  name: 'connections cut during COMMIT',
  to: cutters,
  strike: async (random) => {
    const cutter = cutters[random(cutters.length)] as CommitCutter;
    const ways = ['before', 'at once', 'answered'] as const;
    for (let count = 1 + random(5); count > 0; count--) cutter.cut(ways[random(3)] ?? 'answered');
    await delay(500 + random(500));
    cutter.calm();
  },
});

export const breakConnections = (cutters: readonly CommitCutter[]): Fault => ({
  name: 'all connections of an instance broken',
  to: cutters,
  strike: (random) => {
    cutters[random(cutters.length)]?.breakAll();
    return Promise.resolve();
  },
});

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
