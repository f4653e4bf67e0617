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

  /** Fails every change that depends on a failed one, directly or not, and reports each. @returns whether there was one. */
  spread(failed: ChangeNumbers, report: (change: number) => void): boolean {
    if (!this.isBroken(failed)) return false;
    let found = false;
    const byProvider = this.byProvider();
    const wave = [...byProvider.keys()].filter((change) => failed.has(change));
    for (let change = wave.pop(); change !== undefined; change = wave.pop()) {
      for (const link of byProvider.get(change) ?? []) {
        const dependent = this.dependents.at(link);
        if (failed.has(dependent)) continue;
        failed.add(dependent);
        found = true;
        report(dependent);
        wave.push(dependent);
      }
    }
    return found;
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

  /** Every change that depends on one of these, directly or not. */
  dependentsOf(changes: Iterable<number>): Set<number> {
    const found = new Set<number>();
    if (this.dependents.length === 0) return found;
    const byProvider = this.byProvider();
    const wave = [...changes];
    for (let change = wave.pop(); change !== undefined; change = wave.pop()) {
      for (const link of byProvider.get(change) ?? []) {
        const dependent = this.dependents.at(link);
        if (found.has(dependent)) continue;
        found.add(dependent);
        wave.push(dependent);
      }
    }
    return found;
  }

  /** Whether there is anything to spread: in most files there is not. */
  private isBroken(failed: ChangeNumbers): boolean {
    for (let link = 0; link < this.providers.length; link++) {
      if (failed.has(this.providers.at(link))) return true;
    }
    return false;
  }

  private byProvider(): Map<number, number[]> {
    const links = new Map<number, number[]>();
    for (let link = 0; link < this.providers.length; link++) {
      const provider = this.providers.at(link);
      const list = links.get(provider);
      if (list) list.push(link);
      else links.set(provider, [link]);
    }
    return links;
  }
}
