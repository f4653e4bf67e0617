import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import { EventEmitter } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { ImportRunsRepository } from '../runs/import-runs.repository.js';
import type { ImportRun } from '../runs/import-run.js';
import { RUNNABLE } from '../runs/run-states.js';

/** Longest and first delay between two reads of a run; the first is short for short runs. */
const POLL_MILLIS = 500;
const FIRST_POLL_MILLIS = 20;

/** Watches runs, whichever instance works on them. */
@Injectable()
export class RunEvents implements BeforeApplicationShutdown {
  private stopping = false;
  /** Emits the id of a run that has stopped. The number of watchers is not limited. */
  private readonly stops = new EventEmitter().setMaxListeners(0);
  private forward: (id: string) => void = () => undefined;

  constructor(private readonly runs: ImportRunsRepository) {}

  /** Ends all watches: their runs no longer progress here, and an open answer would keep the process alive. */
  beforeApplicationShutdown(): void {
    this.stopping = true;
  }

  /** Makes the watchers in this process read a run at once, because its worker has stopped. */
  notify(id: string): void {
    this.stops.emit(id);
    this.forward(id);
  }

  /** Tells also another process, where the watchers are. */
  forwardTo(listener: (id: string) => void): void {
    this.forward = listener;
  }

  /** Yields the run now and after every change, until it ends, waits for an operator, or the service stops. */
  async *watch(id: string, signal?: AbortSignal): AsyncGenerator<ImportRun> {
    let last = '';
    let wait = FIRST_POLL_MILLIS;
    do {
      const stop = new AbortController();
      const onStop = (): void => {
        stop.abort();
      };
      this.stops.once(id, onStop); // before the read, so that no event is missed between the two
      try {
        const run = await this.runs.find(id);
        if (!run) return;
        const current = JSON.stringify(run);
        if (current !== last) yield run;
        last = current;
        if (!RUNNABLE.includes(run.state)) return;
        const wake = AbortSignal.any([stop.signal, ...(signal ? [signal] : [])]);
        await delay(wait, undefined, { signal: wake }).catch(() => undefined);
      } finally {
        this.stops.off(id, onStop);
      }
      wait = Math.min(wait * 1.5, POLL_MILLIS);
    } while (!signal?.aborted && !this.stopping);
  }
}
