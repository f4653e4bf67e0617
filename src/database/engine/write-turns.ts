/** Ends a turn. Further calls do nothing. */
export type EndTurn = () => void;

/**
 * Turns of writers on a database that has one writer at a time, in the order in which they were asked for. The processes
 * of a service share one queue, so that none of them waits inside the database with its thread stopped.
 */
export abstract class WriteTurns {
  /** Resolves when everybody who asked before has ended. */
  abstract take(): Promise<EndTurn>;
  /** Writers that wait for their turn. */
  abstract readonly waiting: number;
}

/** The queue itself. */
export class WriteQueue extends WriteTurns {
  private readonly queue: (() => void)[] = [];
  private taken = false;

  get waiting(): number {
    return this.queue.length;
  }

  take(): Promise<EndTurn> {
    if (!this.taken) {
      this.taken = true;
      return Promise.resolve(this.turn());
    }
    return new Promise((resolve) => {
      this.queue.push(() => {
        resolve(this.turn());
      });
    });
  }

  private turn(): EndTurn {
    let ended = false;
    return () => {
      if (ended) return;
      ended = true;
      const next = this.queue.shift();
      if (next) next();
      else this.taken = false;
    };
  }
}

/** The calls by which another process of the service takes its turns. */
export interface TurnCalls {
  /** Resolves when the caller may write. */
  takeTurn(): Promise<void>;
  endTurn(): void;
}

/** The turns of one other process, which has one connection that writes. They end with it. */
export class GrantedTurns implements TurnCalls {
  private end: EndTurn | undefined;
  private gone = false;

  constructor(private readonly turns: WriteTurns) {}

  async takeTurn(): Promise<void> {
    const end = await this.turns.take();
    if (this.gone) end();
    else this.end = end;
  }

  endTurn(): void {
    this.end?.();
  }

  /** The process has ended. */
  leave(): void {
    this.gone = true;
    this.endTurn();
  }
}

/** The turns of this process, which another one grants. */
export class RequestedTurns extends WriteTurns {
  private readonly own = new WriteQueue();

  /** @param calls to the process with the queue. They arrive in the order in which they are made. */
  constructor(private readonly calls: { takeTurn(): Promise<void>; endTurn(): Promise<void> }) {
    super();
  }

  get waiting(): number {
    return this.own.waiting;
  }

  async take(): Promise<EndTurn> {
    const end = await this.own.take();
    await this.calls.takeTurn();
    return () => {
      void this.calls.endTurn();
      end();
    };
  }
}
