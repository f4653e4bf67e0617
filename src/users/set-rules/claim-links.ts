import type { ChangeNumbers, ClaimStorage, Integers } from './claim-storage.js';

/** Changes that are good only if another one is: it releases their username, or creates their manager. */
export class ClaimLinks {
  private readonly dependents: Integers;
  private readonly providers: Integers;
  private readonly tags: Integers;

  constructor(storage: ClaimStorage) {
    this.dependents = storage.integers();
    this.providers = storage.integers();
    this.tags = storage.integers();
  }

  /** @param tag what the dependent needs, as the caller numbers it. */
  add(dependent: number, provider: number, tag: number): void {
    this.dependents.push(dependent);
    this.providers.push(provider);
    this.tags.push(tag);
  }

  /** Fails every change that depends on a failed one, directly or not. @returns those changes. */
  spread(failed: ChangeNumbers): number[] {
    const start = new Set<number>();
    for (let link = 0; link < this.providers.length; link++) {
      const provider = this.providers.at(link);
      if (failed.has(provider)) start.add(provider);
    }
    return this.reach(start, failed);
  }

  /** Every change that depends on one of these, directly or not. */
  dependentsOf(changes: Iterable<number>): Set<number> {
    return new Set(this.reach(changes, new Set()));
  }

  /** The links to changes that have failed. */
  *broken(failed: ChangeNumbers): Generator<[dependent: number, tag: number]> {
    for (let link = 0; link < this.dependents.length; link++) {
      if (failed.has(this.providers.at(link))) yield [this.dependents.at(link), this.tags.at(link)];
    }
  }

  /** The links of changes that have not failed. */
  *holding(failed: ChangeNumbers): Generator<[dependent: number, provider: number]> {
    for (let link = 0; link < this.dependents.length; link++) {
      const dependent = this.dependents.at(link);
      if (!failed.has(dependent)) yield [dependent, this.providers.at(link)];
    }
  }

  /** Adds all that depends on `start` to `known`. @returns what was not known before. */
  private reach(start: Iterable<number>, known: ChangeNumbers): number[] {
    const found: number[] = [];
    const wave = [...start];
    if (wave.length === 0 || this.providers.length === 0) return found;
    const byProvider = this.byProvider();
    for (let change = wave.pop(); change !== undefined; change = wave.pop()) {
      for (const link of byProvider.get(change) ?? []) {
        const dependent = this.dependents.at(link);
        if (known.has(dependent)) continue;
        known.add(dependent);
        found.push(dependent);
        wave.push(dependent);
      }
    }
    return found;
  }

  private byProvider(): Map<number, number[]> {
    const links = Array.from({ length: this.providers.length }, (_, link) => link);
    return Map.groupBy(links, (link) => this.providers.at(link));
  }
}
