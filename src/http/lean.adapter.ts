import { StreamableFile } from '@nestjs/common';
import { ExpressAdapter } from '@nestjs/platform-express';
import type { Express, Request, Response } from 'express';
import { IncomingMessage, ServerResponse, createServer } from 'node:http';
import { type ServerOptions, createServer as createTlsServer } from 'node:https';

type Options = NonNullable<Parameters<ExpressAdapter['initHttpServer']>[0]>;

/** What every request meets before its route is looked for. It may not answer. */
export type Preparation = (request: Request, response: Response) => void;

/**
 * Nest's adapter for Express without what is half of a short request (docs/performance.md): Express gives each request
 * and response another prototype, which throws away what V8 has learnt of their shape, each of its middlewares is looked
 * up like a route, its `json` asks the settings of the application for each answer, and its `ip` reads a header that may
 * not count. Everything else is stock.
 */
export class LeanAdapter extends ExpressAdapter {
  private preparations: readonly Preparation[] = [];
  private held: Promise<unknown> | undefined;

  constructor() {
    super();
    this.getInstance<Express>().router.stack.length = 0; // Nest's middleware for its hooks; ours are `prepareWith`
  }

  /** Called for every request, in this order; for what would be a middleware everywhere, at the cost of a call. */
  prepareWith(...preparations: readonly Preparation[]): void {
    this.preparations = preparations;
  }

  /** No proxy speaks for a client: its address is that of its connection. */
  trustNobody(): void {
    const { request } = this.getInstance<Express>();
    Object.defineProperty(request, 'ip', {
      get(this: Request) {
        return this.socket.remoteAddress;
      },
    });
  }

  /** Requests wait until this has come about, or has failed. */
  holdUntil(moment: Promise<unknown>): void {
    const release = (): void => {
      this.held = undefined;
    };
    this.held = moment.then(release, release);
  }

  /** Requests and responses are born with the prototypes that Express would give them: then it changes nothing. */
  override initHttpServer(options: Options): void {
    const app = this.getInstance<Express>();
    class Incoming extends IncomingMessage {}
    class Outgoing extends ServerResponse {}
    app.request = inheriting(Incoming.prototype, app.request);
    app.response = inheriting(Outgoing.prototype, app.response);
    const classes = { IncomingMessage: Incoming, ServerResponse: Outgoing };
    const handle = (incoming: IncomingMessage, outgoing: ServerResponse): void => {
      const [request, response] = [incoming as Request, outgoing as Response];
      for (const prepare of this.preparations) prepare(request, response);
      if (!this.held) app(request, response);
      else
        void this.held.then(() => {
          app(request, response);
        });
    };
    const tls = options.httpsOptions as ServerOptions | undefined;
    this.httpServer = tls ? createTlsServer({ ...tls, ...classes }, handle) : createServer(classes, handle);
  }

  /** An object goes out as JSON straight away. */
  override reply(response: Response, body: unknown, status?: number): unknown {
    const isJson = typeof body === 'object' && body !== null && !(body instanceof StreamableFile);
    if (!isJson) return super.reply(response, body, status) as unknown;
    if (status !== undefined) response.statusCode = status;
    const json = JSON.stringify(body);
    response.setHeader('Content-Type', 'application/json; charset=utf-8');
    response.setHeader('Content-Length', Buffer.byteLength(json));
    return response.end(json);
  }
}

/** @returns `prototype` itself, below `parent` from now on. */
function inheriting<T extends object>(prototype: object, parent: T): T {
  return Object.setPrototypeOf(prototype, parent) as T;
}
