import type { Response } from 'express';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { TimeSlice } from '../common/time-slice.js';

/**
 * Streams generated text with backpressure, and lets other requests run in between. Sends nothing before the first
 * chunk is available, so an early failure results in a normal error response.
 * @throws every error of `text`. The caller must then cut off the response. A disconnect of the client is not an error.
 */
export async function streamText(response: Response, text: AsyncGenerator<string>): Promise<void> {
  const first = await text.next();
  const slice = new TimeSlice();
  let failure: { error: unknown } | undefined;
  // Catches only errors of `text`. A `catch` around `yield` would also receive the error with which the pipeline reports
  // that the client has disconnected.
  const readNext = async (): Promise<IteratorResult<string, unknown>> => {
    if (slice.isOver) await slice.startNext();
    try {
      return await text.next();
    } catch (error) {
      failure = { error };
      return { done: true, value: undefined };
    }
  };
  async function* readPieces(): AsyncGenerator<string> {
    try {
      for (let piece = first; piece.done !== true; piece = await readNext()) yield piece.value;
    } finally {
      await text.return(undefined);
    }
  }
  await pipeline(Readable.from(readPieces()), response, { end: false }).catch(() => undefined); // ignores the disconnect of the client
  if (failure) throw failure.error;
  response.end();
}

/**
 * Returns a signal that aborts when the client disconnects before the response is complete. Use it only for long-running
 * work: on a short request the listener costs as much as the route itself.
 */
export function abortOnDisconnect(response: Response): AbortSignal {
  const controller = new AbortController();
  const abort = (): void => {
    if (!response.writableFinished) controller.abort();
  };
  if (response.destroyed) abort();
  else response.once('close', abort);
  return controller.signal;
}
