import { ProblemError, unavailable } from '../../platform/common/errors.js';

/** Who asks for work: an account (a user, a key, a name that nobody has) in a network. */
export interface Asker {
  account: string;
  network: string;
  /** Aborted when the client has left. */
  signal?: AbortSignal | undefined;
}

/** There is no place to wait in. */
class QueueFull extends ProblemError {
  constructor() {
    super('unavailable', 'Too many passwords are being checked.', { headers: { 'Retry-After': '1' } });
  }
}

interface Job {
  keys: readonly [account: string, network: string];
  start: () => void;
  refuse: (error: Error) => void;
}

/**
 * Does a bounded amount of work at once and lets a bounded amount wait. Whoever was served longest ago is next, by account
 * and by network: one that asks without pause waits for itself, and nobody else does. Of the places one account or network
 * has at most half. When all are taken, a newcomer gets the place of the one that has the most.
 */
export class FairQueue {
  private queue: Job[] = [];
  private running = 0;
  /** Account or network → when it was last served, the longest ago first. */
  private readonly served = new Map<string, number>();
  private turns = 0;

  /**
   * @param atOnce works that run at once. @param limit works that may wait.
   * @param holdBack ends when a refusal may be answered: one that asks again at once would load the service with refusals.
   */
  constructor(
    private readonly atOnce: number,
    private readonly limit: number,
    private readonly holdBack: (signal?: AbortSignal) => Promise<unknown> = async () => undefined,
  ) {}

  /** Works that wait. */
  get waiting(): number {
    return this.queue.length;
  }

  /** What `work` returns. @throws QueueFull; ProblemError `unavailable` when the client has left. */
  async run<T>(asker: Asker, work: () => Promise<T>): Promise<T> {
    try {
      await this.turn(asker);
    } catch (error) {
      if (error instanceof QueueFull) await this.holdBack(asker.signal);
      throw error;
    }
    try {
      return await work();
    } finally {
      this.running--;
      this.next();
    }
  }

  private async turn({ account, network, signal }: Asker): Promise<void> {
    const keys = [`account ${account}`, `network ${network}`] as const;
    if (signal?.aborted) throw left();
    if (this.running < this.atOnce) {
      this.serve(keys);
      return;
    }
    this.makeRoom(keys);
    await new Promise<void>((resolve, reject) => {
      const job = { keys, start: resolve, refuse: reject };
      this.queue.push(job);
      signal?.addEventListener('abort', () => {
        if (this.remove(job)) reject(left());
      });
    });
  }

  private next(): void {
    const [first, ...others] = this.queue;
    if (!first) return;
    const job = others.reduce((best, other) => (this.isBefore(other, best) ? other : best), first);
    this.remove(job);
    this.serve(job.keys);
    job.start();
  }

  private serve(keys: Job['keys']): void {
    this.running++;
    this.turns++;
    for (const key of keys) {
      this.served.delete(key);
      this.served.set(key, this.turns);
    }
    // What is forgotten was served before all that is known, and keeps its place.
    const known = this.served.keys();
    while (this.served.size > 4 * (this.limit + this.atOnce)) this.served.delete(known.next().value ?? '');
  }

  /** By the later of the two last turns, then by the earlier one: accounts of one network take turns too. */
  private isBefore(one: Job, other: Job): boolean {
    const [a, b] = [one, other].map(({ keys }) => keys.map((key) => this.served.get(key) ?? 0));
    const [late, early] = [Math.max(...(a ?? [])), Math.min(...(a ?? []))];
    const [otherLate, otherEarly] = [Math.max(...(b ?? [])), Math.min(...(b ?? []))];
    return late < otherLate || (late === otherLate && early < otherEarly);
  }

  /**
   * Takes the place of another where the network or the queue is full: in a network that of the account with the most
   * places, in the queue that of the account or network with the most. @throws QueueFull when nobody has more than this
   * one would.
   */
  private makeRoom([account, network]: Job['keys']): void {
    const places = new Map<string, number>();
    for (const key of this.queue.flatMap((job) => job.keys)) places.set(key, (places.get(key) ?? 0) + 1);
    const of = (key: string): number => places.get(key) ?? 0;
    const share = Math.ceil(this.limit / 2);
    if (of(account) >= share) throw new QueueFull();
    if (of(network) >= share) {
      const neighbours = this.queue.filter((job) => job.keys[1] === network);
      this.replace(neighbours, (job) => of(job.keys[0]), of(account) + 1);
    } else if (this.queue.length >= this.limit) {
      const wanted = Math.max(of(account), of(network)) + 1;
      this.replace(this.queue, (job) => Math.max(...job.keys.map(of)), wanted);
    }
  }

  private replace(jobs: readonly Job[], placesOf: (job: Job) => number, wanted: number): void {
    const most = Math.max(...jobs.map(placesOf));
    const last = jobs.findLast((job) => placesOf(job) === most);
    if (!last || most <= wanted) throw new QueueFull();
    this.remove(last);
    last.refuse(new QueueFull());
  }

  /** @returns false when it waits no more. */
  private remove(job: Job): boolean {
    const before = this.queue.length;
    this.queue = this.queue.filter((other) => other !== job);
    return this.queue.length < before;
  }
}

const left = () => unavailable('The client has left.', 1);
