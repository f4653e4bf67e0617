import { createRandom, pickOne } from '../../test/support/data/random.js';

const PRECISION = 2 ** 32;

/** Random choices that repeat for the same seed. */
export class Chance {
  private readonly random: (below: number) => number;

  constructor(seed: number) {
    this.random = createRandom(seed);
  }

  isTrue(probability: number): boolean {
    return this.random(PRECISION) < probability * PRECISION;
  }

  /** Returns an integer from `from` to `to`, both inclusive. */
  between(from: number, to: number): number {
    return from + this.random(to - from + 1);
  }

  pick<T>(choices: readonly T[]): T {
    return pickOne(this.random, choices);
  }

  /** Returns how many independent events occur if `mean` are expected (Poisson distribution). */
  count(mean: number): number {
    const draw = () => Math.log((1 + this.random(PRECISION - 1)) / PRECISION);
    let events = 0;
    for (let sum = draw(); sum > -mean; sum += draw()) events++;
    return events;
  }
}
