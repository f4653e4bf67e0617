import { createRandom, pickOne } from '../../test/support/data/random.js';

const PRECISION = 2 ** 32;

/** Random choices that repeat for the same seed. */
export class Chance {
  private readonly random: (below: number) => number;

  constructor(seed: number) {
    this.random = createRandom(seed);
  }

  isTrue = (probability: number): boolean => this.random(PRECISION) < probability * PRECISION;
  /** Returns an integer from `from` to `to`, both inclusive. */
  between = (from: number, to: number): number => from + this.random(to - from + 1);
  pick = <T>(choices: readonly T[]): T => pickOne(this.random, choices);

  /** Returns how many independent events occur if `mean` are expected (Poisson distribution). */
  count(mean: number): number {
    let events = -1;
    for (let sum = 0; sum > -mean || events < 0; events++)
      sum += Math.log((1 + this.random(PRECISION - 1)) / PRECISION);
    return events;
  }
}
