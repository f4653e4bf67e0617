import { IntList } from './int-list.js';
import type { LineSet } from './line-set.js';

/** Rows that stand only if another row stands: it gives up their username, or creates their manager. */
export class RowLinks {
  private readonly dependents = new IntList();
  private readonly providers = new IntList();
  private readonly tags = new IntList();

  /** `tag` comes back with a link that breaks. */
  add(dependent: number, provider: number, tag: number): void {
    this.dependents.push(dependent);
    this.providers.push(provider);
    this.tags.push(tag);
  }

  /** Fails every row that depends on a failed one, directly or not, and tells each once by the link that broke. */
  spread(failed: LineSet, tell: (line: number, tag: number) => void): void {
    if (!this.isBroken(failed)) return;
    const byProvider = this.byProvider();
    const wave = [...byProvider.keys()].filter((line) => failed.has(line));
    for (let line = wave.pop(); line !== undefined; line = wave.pop()) {
      for (const link of byProvider.get(line) ?? []) {
        const dependent = this.dependents.at(link);
        if (failed.has(dependent)) continue;
        failed.add(dependent);
        tell(dependent, this.tags.at(link));
        wave.push(dependent);
      }
    }
  }

  /** The links of rows that have not failed. */
  *standing(failed: LineSet): Generator<[dependent: number, provider: number]> {
    for (let link = 0; link < this.dependents.length; link++) {
      const dependent = this.dependents.at(link);
      if (!failed.has(dependent)) yield [dependent, this.providers.at(link)];
    }
  }

  /** Whether there is anything to spread: in most files there is not. */
  private isBroken(failed: LineSet): boolean {
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
