/** A set of line numbers in a bit each. */
export class LineSet {
  private bits = new Uint32Array(1024);

  add(line: number): void {
    const word = line >>> 5;
    if (word >= this.bits.length) {
      const bits = new Uint32Array(Math.max(word + 1, this.bits.length * 2));
      bits.set(this.bits);
      this.bits = bits;
    }
    this.bits[word] = (this.bits[word] ?? 0) | (1 << (line & 31));
  }

  has(line: number): boolean {
    return ((this.bits[line >>> 5] ?? 0) & (1 << (line & 31))) !== 0;
  }
}
