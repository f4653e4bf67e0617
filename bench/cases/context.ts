import type { Service } from '../faults/servers.js';
import type { Cores } from '../support/cores.js';
import type { BenchEngine } from '../support/engine.js';
import type { Effort } from '../support/rounds.js';

/** What the cases of one engine share. */
export interface Context {
  engine: BenchEngine;
  cores: Cores;
  effort: Effort;
  /** The seeded database, and how many users it has. */
  url: string;
  users: number;
  /** The service on that database. */
  service: Service;
  say: (line: string) => void;
}
