import { expect, test } from '@jest/globals';
import { FINAL, RUN_STATES, TRANSITIONS, type TransitionName } from '../../src/import/runs/run-states.js';
import { LeaseLostError, getStateChange } from '../../src/import/runs/run-transitions.service.js';

const names = Object.keys(TRANSITIONS) as TransitionName[];
const edges = names.flatMap((name) =>
  RUN_STATES.filter((state) => (TRANSITIONS[name].from as readonly string[]).includes(state)).map(
    (state) => [name, state] as const,
  ),
);

test('every state of an import run is reachable from queued', () => {
  const reached = new Set<string>(['queued']);
  for (let size = 0; size < reached.size;) {
    size = reached.size;
    for (const [name, from] of edges) if (reached.has(from)) reached.add(TRANSITIONS[name].to);
  }
  expect([...reached].sort()).toEqual([...RUN_STATES].sort());
});

test('an import run can leave every state except a final state', () => {
  expect(RUN_STATES.filter((state) => !edges.some(([, from]) => from === state))).toEqual(FINAL);
});

test('an invalid run transition by a worker throws LeaseLostError', () => {
  for (const name of names) {
    for (const state of RUN_STATES) {
      if (edges.some(([each, from]) => each === name && from === state)) continue;
      const change = () => getStateChange(name, { id: 'r', state, phase_started: null, waited_seconds: 0 });
      if (TRANSITIONS[name].by === 'worker') expect(change).toThrow(LeaseLostError);
      else expect(change).toThrow(expect.objectContaining({ code: 'wrong_state' }));
    }
  }
});
