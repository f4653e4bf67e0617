import TestSequencer from '@jest/test-sequencer';

/** Test files that mostly wait for processes and timers. */
const WAITING = /\/(promises|import-kill-random|import-worker|workers-end|workers|swagger-ui)\.e2e-spec\.ts$/;
/** Part of the run in which the waiting files start, so that the run does not end with one of them alone. */
const FIRST_PART = 0.6;

/** Spreads the waiting files over the first part of the run, so that other files use the cores meanwhile. */
export default class extends TestSequencer {
  sort(tests) {
    const sorted = super.sort(tests);
    const waiting = sorted.filter(({ path }) => WAITING.test(path));
    const others = sorted.filter(({ path }) => !WAITING.test(path));
    const gap = Math.floor((others.length * FIRST_PART) / waiting.length);
    return others
      .flatMap((test, at) => (at % gap === 0 ? [...waiting.splice(0, 1), test] : [test]))
      .concat(waiting);
  }
}
