import type { Repeatable } from '../platform/database/transaction-runner.js';
import type { Sql } from '../platform/database/engine/sql.js';

/**
 * What a controller makes of the result of its service: the body, and headers of the response. It runs in the transaction
 * of the effect where a retry is to get the same answer. @param sql for what it has to read.
 */
export type Present<T, A> = (result: T, sql?: Sql) => A | Promise<A>;

/** A request with an `Idempotency-Key`. */
export interface RepeatableRequest extends Repeatable {
  /** As the function `answer`, once: a repeated request gets the first answer. */
  answer<T, A>(effect: () => Promise<T>, present: Present<T, A>): Promise<A>;
  /**
   * A part of the request that has a transaction of its own: it takes effect once, like the whole.
   * @throws FirstAnswer when it has; ProblemError `validation_failed` where the key came with another request.
   */
  part(number: number): Promise<RepeatableRequest>;
  /** Tells the content of a request whose body is a file. @throws FirstAnswer when it has been answered. */
  received(content: unknown): Promise<void>;
}

/**
 * The answer to an unsafe request: `effect` writes, in a transaction to which it passes the caller and whose result it
 * returns, and `present` makes the answer of that. @throws whatever these throw.
 */
export async function answer<T, A>(
  { repeatable }: { repeatable?: RepeatableRequest },
  effect: () => Promise<T>,
  present: Present<T, A>,
): Promise<A> {
  return repeatable ? repeatable.answer(effect, present) : present(await effect());
}
