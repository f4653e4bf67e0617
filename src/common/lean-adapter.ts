import { StreamableFile } from '@nestjs/common';
import { ExpressAdapter } from '@nestjs/platform-express';
import type { Express, Response } from 'express';
import { IncomingMessage, ServerResponse, createServer } from 'node:http';
import { type ServerOptions, createServer as createTlsServer } from 'node:https';

type Options = NonNullable<Parameters<ExpressAdapter['initHttpServer']>[0]>;

/**
 * Nest's adapter for Express without two costs that are half of a short request (docs/performance.md): Express gives
 * each request and response another prototype, which throws away what V8 has learnt of their shape, and its `json`
 * asks the settings of the application for each answer. Everything else is stock.
 */
export class LeanAdapter extends ExpressAdapter {
  /** Requests and responses are born with the prototypes that Express would give them: then it changes nothing. */
  override initHttpServer(options: Options): void {
    const app = this.getInstance<Express>();
    class Request extends IncomingMessage {}
    class Response extends ServerResponse {}
    app.request = inheriting(Request.prototype, app.request);
    app.response = inheriting(Response.prototype, app.response);
    const classes = { IncomingMessage: Request, ServerResponse: Response };
    const tls = options.httpsOptions as ServerOptions | undefined;
    this.httpServer = tls ? createTlsServer({ ...tls, ...classes }, app) : createServer(classes, app);
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
