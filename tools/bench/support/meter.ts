import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';

const TICKS = Number(execFileSync('getconf', ['CLK_TCK']).toString());

/** Returns the ids of a process and of its running descendants. */
function listFamily(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean);
  return [pid, ...children.flatMap((child) => ignoreEnded(() => listFamily(Number(child))))];
}

/** Returns an empty list if the process has ended meanwhile. Its CPU time then counts for its parent. */
function ignoreEnded(read: () => number[]): number[] {
  try {
    return read();
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
}

/**
 * Returns the CPU time in seconds, user and kernel, that processes and their descendants have used so far (proc(5),
 * `stat`).
 */
export function readCpu(pids: readonly number[]): number {
  return pids.flatMap(listFamily).reduce((sum, pid) => sum + readProcessSeconds(pid), 0);
}

function readProcessSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' '); // the name may contain blanks
  const ticks = fields.slice(11, 15).map(Number); // own time, and time of ended children
  return ticks.reduce((sum, each) => sum + each, 0) / TICKS;
}

/** Returns the memory of a process in MiB: current and peak. */
export function readMemory(pid: number): { now: number; peak: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const mebibytes = (name: string): number =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) / 1024;
  return { now: mebibytes('VmRSS'), peak: mebibytes('VmHWM') };
}

/** Sets the peak memory of a process to its current memory (proc(5), `clear_refs`). */
export function resetPeakMemory(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
}

const WATCH_MILLIS = 250;

/** Watches the memory of a process and its descendants. Shared pages count once. */
export class MemoryWatch {
  private readonly timer: NodeJS.Timeout;
  private most = 0;

  constructor(private readonly pid: number) {
    this.timer = setInterval(() => {
      this.measure();
    }, WATCH_MILLIS).unref();
  }

  /** Peak memory so far, in MiB. */
  get peak(): number {
    this.measure();
    return this.most;
  }

  end(): void {
    clearInterval(this.timer);
  }

  private measure(): void {
    const kibibytes = (pid: number): number => {
      try {
        return Number(/^Pss:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1] ?? 0);
      } catch {
        return 0; // the process has ended meanwhile
      }
    };
    const now = listFamily(this.pid).reduce((sum, pid) => sum + kibibytes(pid), 0) / 1024;
    this.most = Math.max(this.most, now);
  }
}
