import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import { EventEmitter } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { ImportRunsRepository } from '../runs/import-runs.repository.js';
import { type ImportRun, RUNNABLE } from '../runs/import-run.js';

/** How old the news of a run may be; a short run is told sooner. */
const LOOK_MILLIS = 500;
const FIRST_LOOK_MILLIS = 20;

/** The news of a run, whichever instance works on it. */
@Injectable()
export class RunEvents implements BeforeApplicationShutdown {
  private stopping = false;
  /** By the id of a run; as many may watch as like. */
  private readonly stops = new EventEmitter().setMaxListeners(0);

  constructor(private readonly runs: ImportRunsRepository) {}

  /** Nobody works on a run here any more: whoever watches one would hold up the end of the process for ever. */
  beforeApplicationShutdown(): void {
    this.stopping = true;
  }

  /** This process has worked on a run as far as it goes: whoever watches it here looks at once. */
  tell(id: string): void {
    this.stops.emit(id);
  }

  /** The run now and after every change, until it ends or waits for an operator, or the service ends. */
  async *watch(id: string, signal?: AbortSignal): AsyncGenerator<ImportRun> {
    let told = '';
    let wait = FIRST_LOOK_MILLIS;
    do {
      const stop = new AbortController();
      const onStop = (): void => {
        stop.abort();
      };
      this.stops.once(id, onStop); // before the look, so that nothing happens between the two unheard
      try {
        const run = await this.runs.find(id);
        if (!run) return;
        const news = JSON.stringify(run);
        if (news !== told) yield run;
        told = news;
        if (!RUNNABLE.includes(run.state)) return;
        const sooner = AbortSignal.any([stop.signal, ...(signal ? [signal] : [])]);
        await delay(wait, undefined, { signal: sooner }).catch(() => undefined);
      } finally {
        this.stops.off(id, onStop);
      }
      wait = Math.min(wait * 1.5, LOOK_MILLIS);
    } while (!signal?.aborted && !this.stopping);
  }
}
