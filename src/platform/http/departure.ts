import type { Response } from 'express';

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
