import type { EngineName } from './engine.js';

/** The measurements of one program in one interval, or the median of several. */
export interface Sample {
  /** Requests, or rows, a second. */
  perSecond: number;
  /** … in a second of CPU of the program (and of the database's server, if the case says so). */
  perCpuSecond: number;
  /** Milliseconds until the answer. */
  median?: number;
  p99?: number;
  /** MiB. */
  memory?: number;
}

export interface Measured extends Sample {
  name: string;
  /** Statements that MariaDB has run for a request. */
  statements?: number;
}

/** A floor, and the service's share of it: medians over the rounds. */
export interface Floored extends Measured {
  ratio: { cpu: number; plain: number };
  /** The share of this floor that the service should reach, by CPU. */
  goal?: number;
}

/** The service and its floors. */
export interface Comparison {
  case: string;
  engine: EngineName;
  service: Measured;
  floors: Floored[];
}

/** A number with its own limit. */
export interface Absolute {
  case: string;
  engine: EngineName;
  value: number;
  unit: 'MiB' | 's' | 'ms';
  atMost: number;
}

/** The results of one run, and its machine. */
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
