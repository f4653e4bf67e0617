import TestSequencer from '@jest/test-sequencer';

/** Files that wait for processes and clocks for most of a minute. They start first, because the run would wait for them at its end. */
const LONGEST = /\/(promises|import-kill-random|import-lane|workers-end|workers|swagger-ui)\.e2e-spec\.ts$/;

export default class extends TestSequencer {
  sort(tests) {
    const isLong = ({ path }) => Number(LONGEST.test(path));
    return super.sort(tests).sort((a, b) => isLong(b) - isLong(a));
  }
}
