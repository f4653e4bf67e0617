const FACTOR = 16;

/** The least of five measurements, since other work on the machine only adds to one. */
function leastCpuMillis(run: () => void): number {
  const times = Array.from({ length: 5 }, () => {
    const before = process.cpuUsage();
    run();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  });
  return Math.min(...times);
}

/**
 * Returns whether the CPU time of a function grows with the length of its input and not with its square.
 * Sixteen times the input takes 256 times as long if the time grows with the square.
 */
export function isLinear(length: number, prepare: (length: number) => () => unknown): boolean {
  const small = leastCpuMillis(prepare(length / FACTOR));
  return leastCpuMillis(prepare(length)) < Math.max(0.2, small) * FACTOR * 6;
}
