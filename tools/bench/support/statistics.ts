/** Returns the median. For an even number of values, it is the mean of the middle two. An empty list gives NaN. */
export const medianOf = (values: readonly number[]): number => {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 ? upper : ((sorted[middle - 1] ?? upper) + upper) / 2;
};

/** Returns the median and the 99th percentile, as the values at these ranks. An empty list gives 0. */
export function percentilesOf(values: readonly number[]): { median: number; p99: number } {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.floor((sorted.length - 1) * share)] ?? 0;
  return { median: at(0.5), p99: at(0.99) };
}
