import type { Response } from 'express';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { varies } from './server.js';

/**
 * Sends text as it is made, no faster than the client takes it. The first piece is awaited before the first byte, so
 * that what fails at once is answered as any error.
 * @throws what `text` throws, at any time: the answer must be cut then, which no client takes for the end. A client that
 * goes away is no error.
 */
export async function streamText(response: Response, text: AsyncGenerator<string>): Promise<void> {
  const first = await text.next();
  varies(response);
  let failure: { error: unknown } | undefined;
  // What the pipeline throws into its source, because the client is gone, is not what the source throws.
  const next = async (): Promise<IteratorResult<string, unknown>> => {
    try {
      return await text.next();
    } catch (error) {
      failure = { error };
      return { done: true, value: undefined };
    }
  };
  async function* all(): AsyncGenerator<string> {
    try {
      for (let piece = first; piece.done !== true; piece = await next()) yield piece.value;
    } finally {
      await text.return(undefined);
    }
  }
  await pipeline(Readable.from(all()), response, { end: false }).catch(() => undefined); // the client is gone
  if (failure) throw failure.error;
  response.end();
}

/**
 * A signal that aborts when the client has left without its answer, so that work for it can end. To be asked for only by
 * work that takes long: a listener costs a short request as much as its route.
 */
export function departureOf(response: Response): AbortSignal {
  const departure = new AbortController();
  const leave = (): void => {
    if (!response.writableFinished) departure.abort();
  };
  if (response.destroyed) leave();
  else response.once('close', leave);
  return departure.signal;
}
