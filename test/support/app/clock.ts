import { afterAll, beforeAll, jest } from '@jest/globals';

/** For `jest.useFakeTimers`: the clock is set, timers are unaffected. */
export const ALL_BUT_DATE = [
  ...(['hrtime', 'nextTick', 'performance', 'queueMicrotask', 'setImmediate', 'clearImmediate'] as const),
  ...(['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'] as const),
];

/** For `jest.useFakeTimers`: only repetitions are under the control of the test. */
export const ALL_BUT_INTERVALS = [
  ...(['Date', 'hrtime', 'nextTick', 'performance', 'queueMicrotask'] as const),
  ...(['setImmediate', 'clearImmediate', 'setTimeout', 'clearTimeout'] as const),
];

/** Stops the clock of the service until `jest.useRealTimers`: times in answers are exact, however slow the machine. */
export const stopClock = () => jest.useFakeTimers({ now: Date.now(), doNotFake: ALL_BUT_DATE });

/** Makes the service do every 50 ms, in this file, what it does every 5 seconds; other repetitions likewise. */
export function hurry(): void {
  const { setInterval: real } = globalThis;
  beforeAll(() => {
    globalThis.setInterval = (work: () => void, millis = 0) => real(work, millis / 100);
  });
  afterAll(() => void (globalThis.setInterval = real));
}
