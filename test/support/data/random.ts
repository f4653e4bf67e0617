/**
 * Creates a random number generator (mulberry32) that repeats its numbers for the same seed. It returns integers from 0
 * to `below` (exclusive).
 */
export function createRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

export function pickOne<T>(random: (below: number) => number, choices: readonly T[]): T {
  const choice = choices[random(choices.length)];
  if (choice === undefined) throw new Error('the list of choices is empty');
  return choice;
}
