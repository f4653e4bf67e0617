/**
 * Collects chunks of bytes in one buffer, which doubles its size when it is full. The memory therefore does not depend on
 * the sizes of the chunks.
 */
export class ByteCollector {
  private buffer: Buffer = Buffer.alloc(0);
  length = 0;

  /**
   * @param maxBytes maximum size of the buffer. The caller must not add more.
   * @param reserve is called with the number of bytes before the buffer grows. Its errors are thrown by `add`.
   */
  constructor(
    private readonly maxBytes = Infinity,
    private readonly reserve: (bytes: number) => void = () => undefined,
  ) {}

  add(chunk: Uint8Array): void {
    const length = this.length + chunk.length;
    if (this.length === 0) {
      this.reserve(length);
      this.buffer = Buffer.from(chunk.buffer, chunk.byteOffset, length); // most bodies consist of one chunk, which need not be copied
    } else {
      if (length > this.buffer.length) this.growTo(length);
      this.buffer.set(chunk, this.length);
    }
    this.length = length;
  }

  toBuffer(): Buffer {
    return this.buffer.subarray(0, this.length);
  }

  private growTo(length: number): void {
    const size = Math.min(Math.max(length, 2 * this.buffer.length), this.maxBytes);
    this.reserve(size - this.buffer.length);
    const grown = Buffer.allocUnsafeSlow(size);
    this.buffer.copy(grown, 0, 0, this.length);
    this.buffer = grown;
  }
}
