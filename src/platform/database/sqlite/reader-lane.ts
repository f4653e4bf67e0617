import { type LaneCalls, LaneEnded, LaneProcess } from '../engine/lane-process.js';
import { DatabaseFault, toDatabaseError } from '../engine/database-fault.js';
import type { RawRows } from './sqlite-connection.js';
import { type SqlValue, reasonOf } from '../engine/sql.js';
import { FairSemaphore } from '../../common/fair-semaphore.js';
import type { WriteLock } from './write-lock.js';

/** Calls to the process that reads. Errors travel as values, since their code would be lost on the way. */
export interface ReaderCalls extends LaneCalls {
  read(sql: string, params: readonly SqlValue[]): RawRows | ReadError;
  /** `Checkpointer.writeBack`. */
  writeBack(): boolean;
}

export interface ReadError {
  message: string;
  code: string | undefined;
}

/** Reads a file outside of the thread that answers requests. */
export interface Reader {
  /** The rows of a SELECT. */
  read(sql: string, params: readonly SqlValue[], signal?: AbortSignal): Promise<RawRows>;
  /** `Checkpointer.writeBack`, with this lock. */
  writeBack(lock: WriteLock): Promise<boolean>;
  end(): Promise<void>;
}

/** Little is kept between two statements. */
const FLAGS = ['--max-semi-space-size=2'];

/** Reads in a process of their own, one after another in the order of their arrival. Nothing bounds their time but a signal. */
export class ReaderLane implements Reader {
  private readonly lane: LaneProcess<ReaderCalls, object>;
  private readonly slot = new FairSemaphore({ slots: 1 });
  private ending = false;

  constructor(program: string, file: string) {
    this.lane = new LaneProcess({ program, args: [file], flags: FLAGS }, () => ({ answers: {} }));
  }

  /** @throws DatabaseFault and the driver's errors, as an engine; the reason of the signal that has stopped it. */
  async read(sql: string, params: readonly SqlValue[], signal?: AbortSignal): Promise<RawRows> {
    return this.alone(signal, async () => {
      const answer = await this.answered(sql, params, signal);
      if ('rows' in answer) return answer;
      throw toDatabaseError(Object.assign(new Error(answer.message), { code: answer.code }));
    });
  }

  /** A process that was killed from outside is replaced by another one, once: a read can be repeated. */
  private async answered(
    sql: string,
    params: readonly SqlValue[],
    signal: AbortSignal | undefined,
    isLast = false,
  ): Promise<RawRows | ReadError> {
    try {
      return await this.lane.use((calls) => calls.read(sql, params));
    } catch (error) {
      if (!(error instanceof LaneEnded) || signal?.aborted) throw error;
      if (isLast || error.wasSilent || this.ending) throw new DatabaseFault('away', error);
      return this.answered(sql, params, signal, true);
    }
  }

  /** The lock is taken when this process runs and has nothing else to do, so that no writer waits for that. */
  async writeBack(lock: WriteLock): Promise<boolean> {
    return this.alone(undefined, () =>
      this.lane.use(async (calls) => {
        await calls.isThere();
        return lock.run(() => calls.writeBack());
      }),
    );
  }

  /** Ends the process, whatever it is doing. */
  async end(): Promise<void> {
    this.ending = true;
    this.lane.kill();
    await this.lane.end();
  }

  /** Runs `work` when everything before it is done, until the signal stops it. */
  private alone<T>(signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
    const read = async (): Promise<T> => {
      // The driver cannot interrupt a statement from outside. A process that only reads can be killed at any moment.
      const stop = (): void => {
        this.lane.kill();
      };
      try {
        signal?.throwIfAborted();
        signal?.addEventListener('abort', stop, { once: true });
        return await work();
      } catch (error) {
        throw signal?.aborted ? reasonOf(signal) : error;
      } finally {
        signal?.removeEventListener('abort', stop);
      }
    };
    return this.slot.run([], read, signal);
  }
}
