import { execFileSync, spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';

/**
 * Cores of each program, in the format of `taskset`. All are undefined on a machine with one core or without `taskset`.
 */
export interface Cores {
  server: string | undefined;
  database: string | undefined;
  load: string | undefined;
  /** All cores except the cores of the load, for work on several cores. */
  computing: string | undefined;
}

/** Assigns one core to the server, one to the database if there are three, and the others to the load. */
export function planCores(): Cores {
  const count = availableParallelism();
  const pinned = count > 1 && spawnSync('taskset', ['-V']).status === 0;
  if (!pinned) return { server: undefined, database: undefined, load: undefined, computing: undefined };
  const load = count > 3 ? `2-${count - 1}` : String(count - 1);
  const last = count > 3 ? count - 2 : Math.max(0, count - 2);
  return { server: '0', database: count > 2 ? '1' : load, load, computing: `0-${last}` };
}

/** Moves this process with all its threads to the given cores. */
export function pinMyself(cores: string | undefined): void {
  if (cores === undefined) return;
  execFileSync('taskset', ['-a', '-p', '-c', cores, String(process.pid)], { stdio: 'ignore' });
}
