import { type Contender, runLoad } from './load.js';
import type { RequestOf } from './requests.js';
import type { BaselineResult, Measured, Sample } from './results.js';
import { medianOf } from './statistics.js';

const WARM_UP_SECONDS = 1;

/** Returns the median of each property. */
function mediansOf(samples: readonly Sample[]): Sample {
  const names = Object.keys(samples[0] ?? {}) as (keyof Sample)[];
  const medians = names.map((name) => [name, medianOf(samples.map((sample) => sample[name] ?? Number.NaN))]);
  return Object.fromEntries(medians) as Sample;
}

/** Number and duration of the measurements of each contender. */
export interface Effort {
  rounds: number;
  seconds: number;
}

/**
 * Puts the contenders under load alternately (A B C A B C …), so that other load on the machine affects all of them.
 * @returns the samples of each contender. The same index in all lists is the same round.
 * @param requestOf one function for all contenders, or one for each.
 */
export async function alternate(
  contenders: readonly Contender[],
  requestOf: RequestOf | readonly RequestOf[],
  next: () => number,
  { rounds, seconds }: Effort,
): Promise<Sample[][]> {
  const measure = (index: number, duration: number): Promise<Sample> => {
    const contender = contenders[index];
    const of = typeof requestOf === 'function' ? requestOf : requestOf[index];
    if (!contender || !of) throw new Error(`unknown contender ${index}`);
    return runLoad(contender, of, next, duration);
  };
  for (const index of contenders.keys()) await measure(index, WARM_UP_SECONDS);
  const samples = contenders.map((): Sample[] => []);
  for (let round = 0; round < rounds; round++) {
    for (const [index, { name }] of contenders.entries()) {
      const sample = await measure(index, seconds);
      if (sample.perSecond === 0) throw new Error(`${name}: no response in ${seconds} s`);
      samples[index]?.push(sample);
    }
  }
  return samples;
}

/**
 * Computes the medians and the ratios to the baselines.
 * @param names of the baselines.
 * @param samples of the service, and then of each baseline.
 */
export function compare(
  names: readonly string[],
  [service = [], ...baselines]: readonly Sample[][],
): { service: Measured; baselines: BaselineResult[] } {
  return {
    service: { name: 'service', ...mediansOf(service) },
    baselines: baselines.map((samples, index) => ({
      name: names[index] ?? '',
      ...mediansOf(samples),
      ratio: {
        cpu: ratioOf(service, samples, 'perCpuSecond'),
        plain: ratioOf(service, samples, 'perSecond'),
      },
    })),
  };
}

/** Returns the median of the ratios of all rounds, because other load on the machine changes between rounds. */
function ratioOf(
  service: readonly Sample[],
  baseline: readonly Sample[],
  of: 'perSecond' | 'perCpuSecond',
): number {
  return medianOf(service.map((sample, round) => sample[of] / (baseline[round]?.[of] ?? Number.NaN)));
}
