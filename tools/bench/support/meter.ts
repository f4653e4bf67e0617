import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const TICKS = Number(execFileSync('getconf', ['CLK_TCK']).toString());

/** A process and those that it has started and that still run. */
function familyOf(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean);
  return [pid, ...children.flatMap((child) => unlessEnded(() => familyOf(Number(child))))];
}

/** A process that ends while it is looked at counts for the one that started it. */
function unlessEnded(look: () => number[]): number[] {
  try {
    return look();
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
}

/**
 * Seconds of CPU that the processes, and those that they have started, have used so far, in user and kernel mode
 * (proc(5), `stat`).
 */
export function cpuSeconds(pids: readonly number[]): number {
  return pids.flatMap(familyOf).reduce((sum, pid) => sum + ofProcess(pid), 0);
}

function ofProcess(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' '); // the name may contain blanks
  const ticks = fields.slice(11, 15).map(Number); // its own, and those of its processes that have ended
  return ticks.reduce((sum, each) => sum + each, 0) / TICKS;
}

/** MiB of memory that a process uses: now, and at its peak. */
export function memory(pid: number): { now: number; peak: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const mebibytes = (name: string): number =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) / 1024;
  return { now: mebibytes('VmRSS'), peak: mebibytes('VmHWM') };
}

const WATCH_MILLIS = 250;

/** Watches the memory of a process and of those that it starts; pages that several have count once. */
export class MemoryWatch {
  private readonly timer: NodeJS.Timeout;
  private most = 0;

  constructor(private readonly pid: number) {
    this.timer = setInterval(() => {
      this.look();
    }, WATCH_MILLIS).unref();
  }

  /** MiB at the most so far. */
  get peak(): number {
    this.look();
    return this.most;
  }

  end(): void {
    clearInterval(this.timer);
  }

  private look(): void {
    const kibibytes = (pid: number): number => {
      try {
        return Number(/^Pss:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1] ?? 0);
      } catch {
        return 0; // it has ended meanwhile
      }
    };
    const now = familyOf(this.pid).reduce((sum, pid) => sum + kibibytes(pid), 0) / 1024;
    this.most = Math.max(this.most, now);
  }
}
