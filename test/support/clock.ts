import { jest } from '@jest/globals';

/** For `jest.useFakeTimers`: the clock is set, timers are unaffected. */
export const ALL_BUT_DATE = [
  ...(['hrtime', 'nextTick', 'performance', 'queueMicrotask', 'setImmediate', 'clearImmediate'] as const),
  ...(['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'] as const),
];

/** Stops the clock of the service until `jest.useRealTimers`: times in answers are exact, however slow the machine. */
export const stopClock = () => jest.useFakeTimers({ now: Date.now(), doNotFake: ALL_BUT_DATE });
