import { Injectable } from '@nestjs/common';
import { LanePrograms } from '../../platform/config/config.module.js';
import { type LaneCalls, LaneProcess } from '../../platform/database/engine/lane-process.js';
import { WriteLock, type WriteLockCalls, lendWriteLock } from '../../platform/database/sqlite/write-lock.js';
import { Log } from '../../platform/telemetry/log.js';
import { RunEvents } from '../report/run-events.js';

/** Calls to the process that imports. */
export interface ImportLaneCalls extends LaneCalls {
  /** Works on waiting runs until there are none. */
  work(): Promise<void>;
  /** Stops at the next checkpoint, and uses the database no more. */
  stop(): Promise<void>;
}

/** Calls from that process to the service. */
export interface ServiceCalls extends WriteLockCalls {
  /** A run has stopped. */
  notify(runId: string): void;
}

/**
 * What an import allocates dies young; little room for it keeps the process small. It has that room from the start, since the
 * young generation of no program grows (`runProgram`): with less an unchanged row takes a tenth more time.
 */
const FLAGS = ['--min-semi-space-size=4', '--max-semi-space-size=4'];

/** Where an import and a request want one processor, the request has it. */
const NICENESS = 10;

/** Runs imports in a process beside the one that answers requests, where the settings name its program. */
@Injectable()
export class ImportLane {
  private readonly lane: LaneProcess<ImportLaneCalls, ServiceCalls> | undefined;
  private stopping = false;

  constructor(
    { import: program }: LanePrograms,
    private readonly lock: WriteLock,
    private readonly events: RunEvents,
    private readonly log: Log,
  ) {
    if (program !== undefined)
      this.lane = new LaneProcess({ program, flags: FLAGS, niceness: NICENESS }, () => this.link());
  }

  /** Whether imports run beside this process, and not in it. */
  get isUsed(): boolean {
    return this.lane !== undefined;
  }

  /** Works on waiting runs until there are none. @throws LaneEnded when the process ends before. */
  async work(): Promise<void> {
    await this.lane?.use((calls) => calls.work());
  }

  /** Resolves when the process has stopped at its next checkpoint, and has ended. */
  async stop(): Promise<void> {
    this.stopping = true;
    if (!this.lane?.isRunning) return;
    await this.lane.use((calls) => calls.stop()).catch(() => undefined); // it has ended, then
    await this.lane.end();
  }

  private link() {
    const lock = lendWriteLock(this.lock);
    const answers: ServiceCalls = {
      ...lock.calls,
      notify: (id) => {
        this.events.notify(id);
      },
    };
    const printed = (lines: string): void => {
      this.log.relay(lines);
    };
    const ended = (how: string): void => {
      lock.end();
      if (how !== '0' && !this.stopping) this.log.warning('import process ended', { exit: how });
    };
    return { answers, printed, ended };
  }
}
