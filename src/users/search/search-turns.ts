/** Ends a turn. Further calls do nothing. */
export type EndTurn = () => void;

/** What the searches of one actor, and of all, may take. */
interface TurnLimits {
  /** Searches at a time, of all actors together. */
  width: number;
  /** Of one actor. */
  perActor: number;
  /** Searches of one actor that may wait. */
  waiting: number;
  /** How long one may wait. */
  patienceMillis: number;
}

/** There is no turn: too many searches of the actor itself wait, or those of all others take too long. */
export class NoTurn extends Error {
  constructor(readonly own: boolean) {
    super('no turn');
  }
}

interface Waiter {
  begin: () => void;
}

/**
 * Turns of searches, by actor: whoever has waited longest without a turn is next, however many searches another actor has
 * sent. So one actor holds up another for one search at most.
 */
export class SearchTurns {
  /** Waiting searches by actor. */
  private readonly queues = new Map<string, Waiter[]>();
  private readonly running = new Map<string, number>();
  /** The number of the last turn of each actor with searches that run or wait. */
  private readonly lastTurns = new Map<string, number>();
  private turns = 0;
  private taken = 0;

  constructor(private readonly limits: TurnLimits) {}

  /** Searches that wait. */
  get waiting(): number {
    let count = 0;
    for (const queue of this.queues.values()) count += queue.length;
    return count;
  }

  /** Resolves when the actor may search. @throws NoTurn; the signal's reason when it has aborted, and leaves the queue. */
  async take(actor: string, signal: AbortSignal): Promise<EndTurn> {
    signal.throwIfAborted();
    if (!this.queues.has(actor) && this.isFree(actor)) return this.begin(actor);
    const queue = this.queues.get(actor) ?? [];
    if (queue.length >= this.limits.waiting) throw new NoTurn(true);
    return new Promise((resolve, reject) => {
      const leave = (reason: unknown): void => {
        this.remove(actor, waiter);
        settle();
        reject(reason instanceof Error ? reason : new Error(String(reason)));
      };
      const abort = (): void => {
        leave(signal.reason);
      };
      const timer = setTimeout(() => {
        leave(new NoTurn(this.running.has(actor)));
      }, this.limits.patienceMillis);
      const settle = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', abort);
      };
      const waiter: Waiter = {
        begin: () => {
          settle();
          resolve(this.begin(actor));
        },
      };
      signal.addEventListener('abort', abort, { once: true });
      queue.push(waiter);
      this.queues.set(actor, queue);
    });
  }

  private isFree(actor: string): boolean {
    return this.taken < this.limits.width && (this.running.get(actor) ?? 0) < this.limits.perActor;
  }

  private begin(actor: string): EndTurn {
    this.taken++;
    this.lastTurns.set(actor, ++this.turns);
    this.running.set(actor, (this.running.get(actor) ?? 0) + 1);
    let ended = false;
    return () => {
      if (ended) return;
      ended = true;
      this.taken--;
      const left = (this.running.get(actor) ?? 1) - 1;
      if (left > 0) this.running.set(actor, left);
      else this.running.delete(actor);
      this.next();
      this.forget(actor);
    };
  }

  /** Begins what can begin. */
  private next(): void {
    for (let actor = this.nextActor(); actor !== undefined; actor = this.nextActor()) {
      const queue = this.queues.get(actor) ?? [];
      const waiter = queue.shift();
      if (queue.length === 0) this.queues.delete(actor);
      waiter?.begin();
    }
  }

  /** Of the actors that may begin, the one whose last turn is the longest ago. */
  private nextActor(): string | undefined {
    let chosen: string | undefined;
    let earliest = Infinity;
    for (const actor of this.queues.keys()) {
      const last = this.lastTurns.get(actor) ?? 0;
      if (last < earliest && this.isFree(actor)) [chosen, earliest] = [actor, last];
    }
    return chosen;
  }

  private remove(actor: string, waiter: Waiter): void {
    const queue = this.queues.get(actor) ?? [];
    const at = queue.indexOf(waiter);
    if (at !== -1) queue.splice(at, 1);
    if (queue.length === 0) this.queues.delete(actor);
    this.forget(actor);
  }

  private forget(actor: string): void {
    if (!this.running.has(actor) && !this.queues.has(actor)) this.lastTurns.delete(actor);
  }
}
