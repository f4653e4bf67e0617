import { setImmediate } from 'node:timers/promises';

/** Time for which long work may run before it yields to the event loop. */
const SLICE_MILLIS = 10;

/**
 * Time slice of long work on the event loop. Check it between the steps of the work, so that other requests are not
 * blocked: `if (slice.isOver) await slice.startNext()`.
 */
export class TimeSlice {
  private began = performance.now();

  get isOver(): boolean {
    return performance.now() - this.began > SLICE_MILLIS;
  }

  async startNext(): Promise<void> {
    await setImmediate();
    this.began = performance.now();
  }
}

/**
 * Splits values into batches of at most `size`. Lets other requests run between two batches.
 * @param size at most 500 for the values of a SQL statement, because MariaDB may not use an index for a much longer list.
 * @param slice time slice of the work to which the values belong, if any.
 */
export async function* toBatches<T>(
  values: readonly T[],
  size = 500,
  slice = new TimeSlice(),
): AsyncGenerator<readonly T[]> {
  for (let from = 0; from < values.length; from += size) {
    if (slice.isOver) await slice.startNext();
    yield values.slice(from, from + size);
  }
}

/** Filters values. Lets other requests run between two batches, as `toBatches` does. */
export async function filterInBatches<T>(values: readonly T[], test: (value: T) => boolean): Promise<T[]> {
  const found: T[] = [];
  for await (const part of toBatches(values)) found.push(...part.filter(test));
  return found;
}
