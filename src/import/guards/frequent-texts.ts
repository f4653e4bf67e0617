/**
 * Counts the most frequent texts in bounded memory (Misra and Gries, 1982). A count is exact for up to `max` different
 * texts. For more texts, it is too low by at most a share of 1/`max` of all texts.
 */
export class FrequentTexts {
  total = 0;
  private readonly counters = new Map<string, number>();

  constructor(private readonly max: number) {}

  add(text: string, weight = 1): void {
    this.total += weight;
    const count = this.counters.get(text);
    if (count !== undefined) this.counters.set(text, count + weight);
    else if (this.counters.size < this.max) this.counters.set(text, weight);
    else this.makeRoom(weight);
  }

  /** Returns the share of a text in all texts, 0 to 1. */
  getShare(text: string): number {
    return (this.counters.get(text) ?? 0) / Math.max(1, this.total);
  }

  private makeRoom(weight: number): void {
    for (const [text, count] of this.counters) {
      if (count > weight) this.counters.set(text, count - weight);
      else this.counters.delete(text);
    }
  }
}
