import type { Response } from 'express';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/**
 * Sends text as it is made, no faster than the client takes it. The first piece is awaited before the first byte, so
 * that what fails at once is answered as any error; a later failure cuts the connection, which no client takes for the end.
 */
export async function streamText(response: Response, text: AsyncGenerator<string>): Promise<void> {
  const first = await text.next();
  async function* all(): AsyncGenerator<string> {
    if (!first.done) yield first.value;
    yield* text;
  }
  await pipeline(Readable.from(all()), response).catch((error: unknown) => {
    // A client that goes away is no fault; whatever else it was, the answer has begun and cannot become another one.
    if (!response.destroyed) response.destroy(error instanceof Error ? error : undefined);
  });
}
