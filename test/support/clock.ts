import { jest } from '@jest/globals';

/** For `jest.useFakeTimers`: the clock is set, timers go on as they are. */
export const ALL_BUT_DATE = [
  ...(['hrtime', 'nextTick', 'performance', 'queueMicrotask', 'setImmediate', 'clearImmediate'] as const),
  ...(['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'] as const),
];

/** Stops the clock that the service reads, until `jest.useRealTimers`: answers in seconds are exact, however slow the machine. */
export const stopClock = () => jest.useFakeTimers({ now: Date.now(), doNotFake: ALL_BUT_DATE });
