import TestSequencer from '@jest/test-sequencer';

/** Files that mostly wait for processes and timers. They start first, so that the run does not end with one of them alone. */
const LONGEST = /\/(promises|import-kill-random|import-lane|workers-end|workers|swagger-ui)\.e2e-spec\.ts$/;

export default class extends TestSequencer {
  sort(tests) {
    const isLong = ({ path }) => Number(LONGEST.test(path));
    return super.sort(tests).sort((a, b) => isLong(b) - isLong(a));
  }
}
