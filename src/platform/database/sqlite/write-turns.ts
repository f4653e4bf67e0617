/** Ends a turn. Further calls do nothing. */
export type EndTurn = () => void;

/**
 * Turns of writers on a database that has one writer at a time, in the order in which they were asked for. The processes
 * of a service share one queue, so that none of them waits inside the database with its thread stopped.
 */
export abstract class WriteTurns {
  /** Resolves when everybody who asked before has ended. */
  abstract take(): Promise<EndTurn>;

  /** Runs `work` in a turn of its own. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    const end = await this.take();
    try {
      return await work();
    } finally {
      end();
    }
  }

  /** Writers that wait for their turn. */
  abstract readonly waiting: number;
  /** Turns that have begun. */
  abstract readonly begun: number;
  /** Whether others write, or wait to, beside whoever had the last turn here. */
  abstract readonly othersWrite: boolean;
}

/** The queue itself. */
export class WriteQueue extends WriteTurns {
  private readonly queue: (() => void)[] = [];
  private taken = false;
  begun = 0;

  get othersWrite(): boolean {
    return this.queue.length > 0;
  }

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
    this.begun++;
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
  /** Resolves when the caller may write, to the turns that others have had since its last one. */
  takeTurn(): Promise<number>;
  endTurn(): void;
}

/** The turns of one other process, which has one connection that writes. They end with it. */
export class GrantedTurns implements TurnCalls {
  private end: EndTurn | undefined;
  private gone = false;
  private last = 0;

  constructor(private readonly turns: WriteTurns) {
    this.last = turns.begun;
  }

  async takeTurn(): Promise<number> {
    const end = await this.turns.take();
    const { last } = this;
    this.last = this.turns.begun;
    if (this.gone) end();
    else this.end = end;
    return this.last - last - 1;
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
  private others = 0;

  /** @param calls to the process with the queue. They arrive in the order in which they are made. */
  constructor(private readonly calls: { takeTurn(): Promise<number>; endTurn(): Promise<void> }) {
    super();
  }

  get othersWrite(): boolean {
    return this.others > 0;
  }

  get begun(): number {
    return this.own.begun;
  }

  get waiting(): number {
    return this.own.waiting;
  }

  async take(): Promise<EndTurn> {
    const end = await this.own.take();
    this.others = await this.calls.takeTurn();
    return () => {
      void this.calls.endTurn();
      end();
    };
  }
}
