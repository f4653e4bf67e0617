import { setTimeout as delay } from 'node:timers/promises';
import { DatabaseFault, type Fault } from './database-fault.js';

/** A request waits no longer for races to end or for a server that takes changes. */
const DEADLINE_MILLIS = 8000;
/** Enough for some dozens of writers of one key: each attempt ends with one of them done. */
const MAX_RACES = 12;

export type Work = 'transaction' | 'statement';

/** Milliseconds of the longest pause before the second attempt, and of the longest at all. */
const PAUSES: Record<'race' | 'moved', [first: number, most: number]> = { race: [10, 200], moved: [50, 500] };

/** A single statement reads nothing first: a value that is taken stays taken. */
const ALONE: readonly Fault[] = ['race', 'moved'];
const READ_BEFORE_WRITE: readonly Fault[] = [...ALONE, 'duplicate'];

/**
 * The one rule about second attempts. A race is run again after a short random pause, so that two writers do not meet
 * twice. On a connection that is of no use any more the work is run again on the next one, which may be to another
 * server. What may have been committed (`unknown`) never is.
 * @param work `transaction` reads before it writes, and so finds what took its unique value; a `statement` does not.
 * @param attempts made so far. @param millis since the first one began.
 * @returns milliseconds to wait before the next attempt; undefined where there is to be none.
 */
export function pauseAfter(error: unknown, work: Work, attempts: number, millis: number): number | undefined {
  if (!(error instanceof DatabaseFault) || millis >= DEADLINE_MILLIS) return undefined;
  const { fault, final } = error;
  if (final || !(work === 'transaction' ? READ_BEFORE_WRITE : ALONE).includes(fault)) return undefined;
  if (fault !== 'moved' && attempts >= MAX_RACES) return undefined;
  // The second attempt on another connection is made at once: most often there is one.
  if (fault === 'moved' && attempts === 1) return 0;
  const [first, most] = PAUSES[fault === 'moved' ? 'moved' : 'race'];
  return Math.random() * Math.min(first * 2 ** (attempts - 1), most);
}

/** What `attempt` returns, which is made again by the rule of `pauseAfter`. @throws the last error. */
export async function repeated<T>(work: Work, attempt: (number: number) => Promise<T>): Promise<T> {
  const started = Date.now();
  for (let attempts = 1; ; attempts++) {
    try {
      return await attempt(attempts);
    } catch (error) {
      const pause = pauseAfter(error, work, attempts, Date.now() - started);
      if (pause === undefined) throw error;
      await delay(pause);
    }
  }
}
