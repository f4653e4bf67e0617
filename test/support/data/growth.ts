const FACTOR = 16;

/** Returns the smallest of five measurements, because other work on the machine only adds time. */
function measureCpuMillis(run: () => void): number {
  const times = Array.from({ length: 5 }, () => {
    const before = process.cpuUsage();
    run();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  });
  return Math.min(...times);
}

/**
 * Returns true if the CPU time of a function grows linearly with the length of its input. With quadratic growth,
 * sixteen times the input would take 256 times as long.
 */
export function isLinear(length: number, prepare: (length: number) => () => unknown): boolean {
  const small = measureCpuMillis(prepare(length / FACTOR));
  return measureCpuMillis(prepare(length)) < Math.max(0.2, small) * FACTOR * 6;
}
