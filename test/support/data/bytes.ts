/**
 * A stream of a file in chunks of `size` bytes, or in one chunk. Records how many bytes were read and whether it was
 * closed.
 */
export class ByteSource implements AsyncIterable<Uint8Array> {
  bytesRead = 0;
  closed = false;

  constructor(
    private readonly bytes: Uint8Array | Iterable<Uint8Array>,
    private readonly size = Infinity,
  ) {}

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    try {
      for (const chunk of this.split()) {
        this.bytesRead += chunk.length;
        yield chunk;
      }
    } finally {
      this.closed = true;
    }
  }

  private *split(): Generator<Uint8Array> {
    if (!(this.bytes instanceof Uint8Array)) return yield* this.bytes;
    const size = Math.min(this.size, Math.max(1, this.bytes.length));
    for (let at = 0; at < this.bytes.length; at += size) yield this.bytes.subarray(at, at + size);
  }
}

/** Ways to split the same bytes into chunks. The result of a reader must not depend on them. */
export const CHUNKINGS: readonly (readonly [name: string, size: number])[] = [
  ['byte by byte', 1],
  ['in chunks of seven bytes', 7],
  ['as one chunk', Infinity],
];

/** Yields `head`, and then `chunk` repeatedly until `total` bytes are reached. */
export function* repeatUpTo(head: string, chunk: string, total: number): Generator<Uint8Array> {
  let length = head.length;
  yield Buffer.from(head);
  const bytes = Buffer.from(chunk);
  for (; length < total; length += bytes.length) yield bytes;
}
