import type { EngineName } from './engine.js';

/** What one interval, or the median of several, has shown of one program. */
export interface Sample {
  /** Requests, or rows, a second. */
  perSecond: number;
  /** … in a second of CPU of the program (and of the database's server, where the case says so). */
  perCpuSecond: number;
  /** Milliseconds until the answer. */
  median?: number;
  p99?: number;
  /** Mean bytes of an answer, headers included. */
  bytes?: number;
  /** MiB. */
  memory?: number;
}

export interface Measured extends Sample {
  name: string;
  /** Statements that MariaDB has run for a request. */
  statements?: number;
}

/** A floor, and the service's share of it: medians of what was seen round by round. */
export interface Floored extends Measured {
  ratio: { cpu: number; plain: number };
  /** The share that the service is to reach of this floor, by CPU. */
  goal?: number;
}

/** The service beside its floors. */
export interface Comparison {
  case: string;
  engine: EngineName;
  unit: 'requests' | 'logins' | 'rows';
  service: Measured;
  floors: Floored[];
}

/** A number that has a limit of its own. */
export interface Absolute {
  case: string;
  engine: EngineName;
  value: number;
  unit: 'MiB' | 's' | 'times';
  atMost: number;
}

/** What one run has found, and on what. */
export interface Results {
  date: string;
  commit: string;
  machine: {
    cpu: string;
    cores: number;
    /** GiB */
    memory: number;
    node: string;
    engines: Partial<Record<EngineName, string>>;
  };
  effort: { users: number; rounds: number; seconds: number };
  comparisons: Comparison[];
  absolutes: Absolute[];
}

/** `bench/results.json`: the last whole run with some thousand users, and the last one with a million. */
export interface ResultsFile {
  bench?: Results;
  scale?: Results;
}
