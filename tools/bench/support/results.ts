import type { EngineName } from './engine.js';

/** Measurements of one program in one interval, or the median of several intervals. */
export interface Sample {
  /** Requests or rows per second. */
  perSecond: number;
  /** Requests or rows per second of CPU time of the program. Imports include the database server. */
  perCpuSecond: number;
  /** Number of statements that the database server runs for a request. */
  statements?: number;
  /** Median latency in milliseconds. */
  median?: number;
  /** Latency in milliseconds at the 99th percentile. */
  p99?: number;
  /** Memory in MiB. */
  memory?: number;
}

export interface Measured extends Sample {
  name: string;
}

/** Measurements of a baseline, and the share of it that the service reaches. Both are medians over the rounds. */
export interface BaselineResult extends Measured {
  ratio: { cpu: number; plain: number };
  /** Share of the baseline that the service should reach, by CPU time. */
  goal?: number;
}

/** Measurements of the service and its baselines. */
export interface Comparison {
  case: string;
  engine: EngineName;
  service: Measured;
  baselines: BaselineResult[];
}

/** A measurement with a fixed limit. */
export interface Absolute {
  case: string;
  engine: EngineName;
  value: number;
  unit: 'MiB' | 's' | 'ms';
  atMost: number;
}

/** Results of one run, with its machine. */
export interface Results {
  date: string;
  commit: string;
  machine: {
    cpu: string;
    cores: number;
    /** Memory in GiB. */
    memory: number;
    node: string;
    engines: Partial<Record<EngineName, string>>;
  };
  effort: { users: number; rounds: number; seconds: number };
  comparisons: Comparison[];
  absolutes: Absolute[];
}
