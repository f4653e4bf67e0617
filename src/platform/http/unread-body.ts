import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { LINGER_BYTES, LINGER_MILLIS } from './bounds.js';

/** Whether a request has a body (RFC 9112, section 6.3). */
export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/**
 * Is called when an answer begins. If the body has not arrived by then, it is not wanted any more: the connection closes
 * with the answer instead of reading on for as long as the client likes to send.
 */
export function closeIfUnread(response: ServerResponse): void {
  const { req: request, socket } = response;
  if (request.complete || !hasBody(request)) return;
  response.setHeader('Connection', 'close');
  if (!socket) return;
  socket.destroySoon = () => {
    linger(socket);
  };
  let left = LINGER_BYTES;
  request.unpipe();
  request.on('data', (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) request.pause();
  });
  request.resume();
}

/** Sends what is written, then the end; the connection is closed once the client closes it, or after `LINGER_MILLIS`. */
export function linger(socket: Socket): void {
  socket.end();
  const timer = setTimeout(() => {
    socket.destroy();
  }, LINGER_MILLIS);
  socket.once('close', () => {
    clearTimeout(timer);
  });
}
