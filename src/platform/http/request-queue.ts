import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/** Maximum number of requests that wait on one connection. */
const MAX_WAITING_ON_CONNECTION = 100;
/** Maximum number of requests that wait on all connections together. Each takes about 4 KiB. */
const MAX_WAITING = 2000;

interface Connection {
  latest: ServerResponse;
  waiting: number;
}

/**
 * Serves the requests of a connection one after the other, so that a client that sends many requests at once
 * (pipelining) delays other clients by one request at a time. Closes a connection with too many waiting requests.
 */
export class RequestQueue {
  private readonly connections = new WeakMap<Duplex, Connection>();
  /** Requests whose connection has sent the previous response. One of them is served in each turn of the event loop. */
  private readonly ready: (() => void)[] = [];
  private waiting = 0;

  /** Returns the response to the latest request of a connection. That request may still be waiting. */
  findLatestResponse(socket: Duplex): ServerResponse | undefined {
    return this.connections.get(socket)?.latest;
  }

  /** Calls `serve` when the connection has sent the previous response. Never calls it if the connection ends earlier. */
  add(request: IncomingMessage, response: ServerResponse, serve: () => void): void {
    const { socket } = request;
    const connection = this.connections.get(socket);
    if (!connection) this.connections.set(socket, this.watch(socket, response));
    if (!connection || connection.latest.closed) {
      if (connection) connection.latest = response;
      serve();
      return;
    }
    const previous = connection.latest;
    connection.latest = response;
    if (connection.waiting >= MAX_WAITING_ON_CONNECTION || this.waiting >= MAX_WAITING) socket.destroy();
    if (socket.destroyed) return;
    this.addWaiting(connection, 1);
    previous.once('close', () => {
      const resume = (): void => {
        if (request.destroyed || socket.destroyed) return;
        this.addWaiting(connection, -1);
        if (!response.headersSent) serve(); // otherwise the HTTP parser has rejected the request in the meantime
      };
      if (this.ready.push(resume) === 1) setImmediate(this.serveNext);
    });
  }

  private watch(socket: Duplex, latest: ServerResponse): Connection {
    const connection = { latest, waiting: 0 };
    socket.once('close', () => {
      this.addWaiting(connection, -connection.waiting);
    });
    return connection;
  }

  private addWaiting(connection: Connection, count: number): void {
    connection.waiting += count;
    this.waiting += count;
  }

  private readonly serveNext = (): void => {
    this.ready.shift()?.();
    if (this.ready.length > 0) setImmediate(this.serveNext);
  };
}
