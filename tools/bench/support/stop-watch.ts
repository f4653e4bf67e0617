import type { Spent } from './run-baseline.js';

/** Wall time and CPU time of this process in the measured sections. */
export class StopWatch {
  private seconds = 0;
  private micros = 0;

  async measure<T>(work: () => T | Promise<T>): Promise<T> {
    const from = performance.now();
    const cpu = process.cpuUsage();
    const result = await work();
    const { user, system } = process.cpuUsage(cpu);
    this.seconds += (performance.now() - from) / 1000;
    this.micros += user + system;
    return result;
  }

  get spent(): Spent {
    return { seconds: this.seconds, cpuSeconds: this.micros / 1e6 };
  }
}
