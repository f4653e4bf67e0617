import { type WorkerCalls, WorkerEndedError, WorkerProcess } from '../engine/worker-process.js';
import { DatabaseError, toDatabaseError } from '../engine/database-error.js';
import type { RawRows } from './sqlite-connection.js';
import { type SqlValue, abortReasonOf } from '../engine/sql.js';
import { FairSemaphore } from '../../common/fair-semaphore.js';

/** Calls to a read worker. Errors are sent as values, because a thrown error would lose its code. */
export interface ReadWorkerCalls extends WorkerCalls {
  read(sql: string, params: readonly SqlValue[]): RawRows | SerializedError;
  runCheckpoint(truncate: boolean): void;
}

export interface SerializedError {
  message: string;
  code: string | undefined;
}

/** Checkpoints the log. With `truncate`, also truncates its file. */
export type RunCheckpoint = (truncate: boolean) => Promise<void>;

/**
 * Node.js flags of a read worker. A small young generation of the heap is enough, because few objects survive a statement.
 */
const FLAGS = ['--max-semi-space-size=2'];

/**
 * A read worker: runs SELECT statements in a separate process, one after another. Their duration is not limited, but a
 * signal can stop them.
 */
export class ReadWorker {
  private readonly worker: WorkerProcess<ReadWorkerCalls, object>;
  private readonly slot = new FairSemaphore({ slots: 1 });
  private isEnding = false;

  constructor(program: string, file: string) {
    this.worker = new WorkerProcess({ program, args: [file], flags: FLAGS }, () => ({ handlers: {} }));
  }

  /**
   * Runs a SELECT statement in the worker process.
   * @throws DatabaseError or the driver's error, as an `Engine` does, or the signal's reason if the signal stopped
   * the read.
   */
  async read(sql: string, params: readonly SqlValue[], signal?: AbortSignal): Promise<RawRows> {
    return this.runAlone(signal, async () => {
      const answer = await this.readOrRetry(sql, params, signal);
      if ('rows' in answer) return answer;
      throw toDatabaseError(Object.assign(new Error(answer.message), { code: answer.code }));
    });
  }

  /** Reads, and tries once more with a new process if the worker process was killed. A read can safely run twice. */
  private async readOrRetry(
    sql: string,
    params: readonly SqlValue[],
    signal: AbortSignal | undefined,
    isLast = false,
  ): Promise<RawRows | SerializedError> {
    try {
      return await this.worker.startAndCall((calls) => calls.read(sql, params));
    } catch (error) {
      if (!(error instanceof WorkerEndedError) || signal?.aborted) throw error;
      if (isLast || error.wasSilent || this.isEnding) throw new DatabaseError('away', error);
      return this.readOrRetry(sql, params, signal, true);
    }
  }

  /**
   * Calls `useCheckpoint` with a function that checkpoints the write-ahead log, while this worker runs no SELECT
   * statement. First waits until the process is running and idle, so that writers wait less.
   */
  runCheckpoint(useCheckpoint: (runCheckpoint: RunCheckpoint) => Promise<void>): Promise<void> {
    return this.pause(() =>
      this.worker.startAndCall(async (calls) => {
        await calls.ping();
        await useCheckpoint((truncate) => calls.runCheckpoint(truncate));
      }),
    );
  }

  /** Runs `work` while no SELECT statement runs in this worker. */
  pause(work: () => Promise<void>): Promise<void> {
    return this.runAlone(undefined, work);
  }

  async end(): Promise<void> {
    this.isEnding = true;
    this.worker.kill();
    await this.worker.end();
  }

  /** Runs `work` after all earlier calls. If the signal aborts, the worker process is killed. */
  private runAlone<T>(signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
    const read = async (): Promise<T> => {
      // The driver cannot interrupt a running statement, but a process that only reads can be killed at any moment.
      const stop = (): void => {
        this.worker.kill();
      };
      try {
        signal?.throwIfAborted();
        signal?.addEventListener('abort', stop, { once: true });
        return await work();
      } catch (error) {
        throw signal?.aborted ? abortReasonOf(signal) : error;
      } finally {
        signal?.removeEventListener('abort', stop);
      }
    };
    return this.slot.run([], read, signal);
  }
}
