import { afterAll, beforeAll, jest } from '@jest/globals';

/** Value of `doNotFake` with which `jest.useFakeTimers` replaces only the clock. */
export const ALL_BUT_DATE = [
  ...(['hrtime', 'nextTick', 'performance', 'queueMicrotask', 'setImmediate', 'clearImmediate'] as const),
  ...(['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'] as const),
];

/** Value of `doNotFake` with which `jest.useFakeTimers` replaces only intervals. */
export const ALL_BUT_INTERVALS = [
  ...(['Date', 'hrtime', 'nextTick', 'performance', 'queueMicrotask'] as const),
  ...(['setImmediate', 'clearImmediate', 'setTimeout', 'clearTimeout'] as const),
];

/** Stops the clock of the service until `jest.useRealTimers`, so that times in responses are exact on slow machines. */
export const stopClock = () => jest.useFakeTimers({ now: Date.now(), doNotFake: ALL_BUT_DATE });

/** Runs the clocks of the service ten times as fast until `jest.restoreAllMocks`. Timers keep their speed. */
export function speedUp(): void {
  for (const clock of [Date, performance]) {
    const now = clock.now.bind(clock);
    const started = now();
    jest.spyOn(clock, 'now').mockImplementation(() => started + (now() - started) * 10);
  }
}

/** Runs all intervals of the service 100 times as fast in this test file. A check every 5 seconds runs every 50 ms. */
export function speedUpIntervals(): void {
  const { setInterval: real } = globalThis;
  beforeAll(() => {
    globalThis.setInterval = (work: () => void, millis = 0) => real(work, millis / 100);
  });
  afterAll(() => void (globalThis.setInterval = real));
}
