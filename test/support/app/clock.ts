import { afterAll, beforeAll, jest } from '@jest/globals';

/** For `jest.useFakeTimers`: the clock is set, timers are unaffected. */
export const ALL_BUT_DATE = [
  ...(['hrtime', 'nextTick', 'performance', 'queueMicrotask', 'setImmediate', 'clearImmediate'] as const),
  ...(['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'] as const),
];

/** Makes `jest.useFakeTimers` fake only intervals, as its `doNotFake`. */
export const ALL_BUT_INTERVALS = [
  ...(['Date', 'hrtime', 'nextTick', 'performance', 'queueMicrotask'] as const),
  ...(['setImmediate', 'clearImmediate', 'setTimeout', 'clearTimeout'] as const),
];

/** Stops the clock of the service until `jest.useRealTimers`: times in answers are exact, however slow the machine. */
export const stopClock = () => jest.useFakeTimers({ now: Date.now(), doNotFake: ALL_BUT_DATE });

/** Makes the clocks of the service ten times as fast until `jest.restoreAllMocks`. Timers keep their speed. */
export function speedUp(): void {
  for (const clock of [Date, performance]) {
    const now = clock.now.bind(clock);
    const started = now();
    jest.spyOn(clock, 'now').mockImplementation(() => started + (now() - started) * 10);
  }
}

/** Makes the service do every 50 ms, in this file, what it does every 5 seconds; other repetitions likewise. */
export function hurry(): void {
  const { setInterval: real } = globalThis;
  beforeAll(() => {
    globalThis.setInterval = (work: () => void, millis = 0) => real(work, millis / 100);
  });
  afterAll(() => void (globalThis.setInterval = real));
}
