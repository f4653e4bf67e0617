const SEGMENT_BITS = 14;
const SEGMENT = 1 << SEGMENT_BITS;

/** A growing list of integers in four bytes each. It grows by segments: nothing is copied, little stands empty. */
export class IntList {
  private readonly segments: Int32Array[] = [];
  length = 0;

  push(value: number): void {
    this.set(this.length, value);
  }

  /** 0 where nothing has been set. */
  at(index: number): number {
    return this.segments[index >> SEGMENT_BITS]?.[index & (SEGMENT - 1)] ?? 0;
  }

  /** The list reaches at least up to `index` then. */
  set(index: number, value: number): void {
    while (this.segments.length <= index >> SEGMENT_BITS) this.segments.push(new Int32Array(SEGMENT));
    const segment = this.segments[index >> SEGMENT_BITS];
    if (segment) segment[index & (SEGMENT - 1)] = value;
    if (index >= this.length) this.length = index + 1;
  }
}
