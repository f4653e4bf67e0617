import { type Contender, load } from './load.js';
import type { RequestOf } from './requests.js';
import type { Floored, Measured, Sample } from './results.js';
import { median } from './statistics.js';

const WARM_UP_SECONDS = 1;

/** Property by property. */
function medianSample(samples: readonly Sample[]): Sample {
  const names = Object.keys(samples[0] ?? {}) as (keyof Sample)[];
  const medians = names.map((name) => [name, median(samples.map((sample) => sample[name] ?? Number.NaN))]);
  return Object.fromEntries(medians) as Sample;
}

/** How often and how long each contender is asked. */
export interface Effort {
  rounds: number;
  seconds: number;
}

/**
 * Puts the contenders under load in turns (A B C A B C …), so that other load on the machine affects all of them.
 * @returns the samples of each; one index in all lists is one round.
 * @param requestOf one for all of them, or one each.
 */
export async function inTurns(
  contenders: readonly Contender[],
  requestOf: RequestOf | readonly RequestOf[],
  next: () => number,
  { rounds, seconds }: Effort,
): Promise<Sample[][]> {
  const ask = (index: number, duration: number): Promise<Sample> => {
    const contender = contenders[index];
    const of = typeof requestOf === 'function' ? requestOf : requestOf[index];
    if (!contender || !of) throw new Error(`no contender ${index}`);
    return load(contender, of, next, duration);
  };
  for (const index of contenders.keys()) await ask(index, WARM_UP_SECONDS);
  const samples = contenders.map((): Sample[] => []);
  for (let round = 0; round < rounds; round++) {
    for (const [index, { name }] of contenders.entries()) {
      const sample = await ask(index, seconds);
      if (sample.perSecond === 0) throw new Error(`${name}: no answer in ${seconds} s`);
      samples[index]?.push(sample);
    }
  }
  return samples;
}

/** @param samples of the service first, then of the floors with these names. */
export function compare(
  names: readonly string[],
  [service = [], ...floors]: readonly Sample[][],
): { service: Measured; floors: Floored[] } {
  return {
    service: { name: 'service', ...medianSample(service) },
    floors: floors.map((samples, index) => ({
      name: names[index] ?? '',
      ...medianSample(samples),
      ratio: { cpu: ratio(service, samples, 'perCpuSecond'), plain: ratio(service, samples, 'perSecond') },
    })),
  };
}

/** Round by round, as other load on the machine changes between them. */
function ratio(
  service: readonly Sample[],
  floor: readonly Sample[],
  of: 'perSecond' | 'perCpuSecond',
): number {
  return median(service.map((sample, round) => sample[of] / (floor[round]?.[of] ?? Number.NaN)));
}
