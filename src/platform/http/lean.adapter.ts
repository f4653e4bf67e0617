import { StreamableFile } from '@nestjs/common';
import { ExpressAdapter } from '@nestjs/platform-express';
import { type Express, type Request, type Response, request as expressRequest } from 'express';
import {
  IncomingMessage,
  type OutgoingHttpHeader,
  type OutgoingHttpHeaders,
  type Server,
  ServerResponse,
} from 'node:http';
import { ProblemError } from '../common/errors.js';
import { pathOf } from '../telemetry/observe.js';
import { isObject } from '../common/json.js';
import { LOCAL_USER, localAddress, normalAddress } from './request-headers.js';
import { MIN_BYTES, type Preparation, boundedServer, varies } from './server.js';
import { closeIfUnread } from './body-reader.js';

type Headers = OutgoingHttpHeaders | OutgoingHttpHeader[];
type Rest =
  [statusMessage?: string | undefined, headers?: Headers | undefined] | [headers?: Headers | undefined];
type Options = NonNullable<Parameters<ExpressAdapter['initHttpServer']>[0]>;

declare module 'express-serve-static-core' {
  interface Request {
    /** Set where the request came by the private socket, and not over the network. */
    isLocal?: true;
  }
}

/** Answers a request that was refused before any route could. */
type Refuse = (refusal: ProblemError, request: Request, response: Response) => void;

/**
 * Nest's adapter for Express without the overhead that is half of a short request (docs/performance.md): Express gives
 * each request and response another prototype, which discards V8's hidden classes; it looks each middleware up like a
 * route; `json` reads the settings of the application for each answer; `ip` reads a header that may not count. Everything
 * else is stock.
 */
export class LeanAdapter extends ExpressAdapter {
  /** Serves the same routes to the commands of this machine, once it listens on a private socket. */
  localServer!: Server;
  private preparations: readonly Preparation[] = [];
  private held: Promise<unknown> | undefined;
  private state: { readonly ending: boolean } = { ending: false };
  private addressOf: (request: Request) => string | undefined = peerOf;
  private forwarded: ((request: Request) => ProblemError | undefined) | undefined;
  private refuse: Refuse = (_refusal, _request, response) => {
    response.destroy(); // until the application is complete
  };

  constructor() {
    super();
    this.getInstance<Express>().router.stack.length = 0; // Nest's middleware for its hooks; `prepareWith` replaces it
  }

  /** Called for every request, in this order: a middleware for all routes at the cost of a call. */
  prepareWith(...preparations: readonly Preparation[]): void {
    this.preparations = preparations;
  }

  /** While the service is `ending`, a response closes its connection: the next request would find it closed. */
  closeWhile(state: { readonly ending: boolean }): void {
    this.state = state;
  }

  /** How to answer what the server itself refuses. */
  refuseWith(refuse: Refuse): void {
    this.refuse = refuse;
  }

  /** No proxy is trusted: the address of a client is that of its connection. */
  trustNobody(): void {
    this.addressOf = peerOf;
  }

  /**
   * The address of a client is what the trusted proxies say (`trust proxy` of Express). One that is no IP address is refused
   * before anything else, so that log, audit and limits see only addresses in their one form (`normalAddress`).
   */
  trustProxies(): void {
    const ofExpress = Object.getOwnPropertyDescriptor(expressRequest, 'ip');
    const claimed = (each: Request): string => String(ofExpress?.get?.call(each));
    this.addressOf = (each) => normalAddress(claimed(each)) ?? peerOf(each);
    this.forwarded = (each) =>
      each.headers['x-forwarded-for'] === undefined || normalAddress(claimed(each)) !== undefined
        ? undefined
        : new ProblemError('invalid_parameter', 'X-Forwarded-For holds something other than an IP address.');
  }

  /** Requests wait until this is settled. */
  holdUntil(moment: Promise<unknown>): void {
    const release = (): void => {
      this.held = undefined;
    };
    this.held = moment.then(release, release);
  }

  /** Requests and responses are created with the prototypes that Express would set, so that it changes nothing. */
  override initHttpServer(options: Options): void {
    const app = this.getInstance<Express>();
    const isEnding = (): boolean => this.state.ending;
    class Incoming extends IncomingMessage {
      /** Of the client, read when the request arrives: later its connection may be gone. */
      address: string | undefined = undefined;

      get ip(): string | undefined {
        return this.address;
      }
    }
    class Outgoing<R extends IncomingMessage = IncomingMessage> extends ServerResponse<R> {
      override writeHead(status: number, ...[first, second]: Rest): this {
        closeIfUnread(this);
        if (isEnding()) this.setHeader('Connection', 'close');
        return typeof first === 'string'
          ? super.writeHead(status, first, second)
          : super.writeHead(status, first ?? second);
      }
    }
    Reflect.setPrototypeOf(Incoming.prototype, app.request);
    Reflect.setPrototypeOf(Outgoing.prototype, app.response);
    Object.assign(app, { request: Incoming.prototype, response: Outgoing.prototype });
    const classes = { IncomingMessage: Incoming, ServerResponse: Outgoing };
    const refuse = (refusal: ProblemError, incoming: IncomingMessage, outgoing: ServerResponse): void => {
      const [request, response] = [incoming as Request, outgoing as Response];
      request.originalUrl = incoming.url ?? '';
      response.setHeader('Connection', 'close');
      this.refuse(refusal, request, response);
    };
    const serve = (incoming: IncomingMessage, outgoing: ServerResponse, refusal?: ProblemError): void => {
      const [request, response] = [incoming as Request, outgoing as Response];
      for (const prepare of this.preparations) prepare(request, response);
      if (incoming instanceof Incoming) incoming.address = this.addressOf(request);
      const refused = refusal ?? this.forwarded?.(request);
      if (refused) refuse(refused, request, response);
      else route(request, response);
    };
    const serveLocal: typeof serve = (incoming, outgoing, refusal) => {
      const [request, response] = [incoming as Request, outgoing as Response];
      for (const prepare of this.preparations) prepare(request, response);
      request.isLocal = true;
      if (incoming instanceof Incoming) incoming.address = localAddress(request.headers[LOCAL_USER]);
      response.setHeader('Connection', 'close'); // no idle connection delays the end
      if (refusal) refuse(refusal, request, response);
      else route(request, response);
    };
    const route = (request: Request, response: Response): void => {
      if (this.held) void this.held.then(() => void app(request, response));
      else app(request, response);
    };
    this.httpServer = boundedServer(options.httpsOptions, classes, serve, refuse);
    this.localServer = boundedServer(undefined, classes, serveLocal, refuse);
    this.localServer.requestTimeout = 0; // a file from standard input may take its time
  }

  override async close(): Promise<void> {
    const isClosed = new Promise((resolve) => this.localServer.close(resolve));
    await Promise.all([super.close(), isClosed]);
  }

  /** Writes an object as JSON without Express's `json`. */
  override reply(response: Response, body: unknown, status?: number): unknown {
    const isJson = typeof body === 'object' && body !== null && !(body instanceof StreamableFile);
    if (!isJson) return super.reply(response, body, status);
    if (status !== undefined) response.statusCode = status;
    const json = JSON.stringify(body);
    const length = Buffer.byteLength(json);
    if (!response.hasHeader('Content-Type'))
      response.setHeader('Content-Type', 'application/json; charset=utf-8');
    response.setHeader('Content-Length', length);
    if (length >= MIN_BYTES) varies(response);
    return response.end(json);
  }
}

function peerOf({ socket }: Request): string | undefined {
  return normalAddress(socket.remoteAddress ?? '');
}

/** The part of an Express layer with its path and methods. */
interface Layer {
  match(path: string): boolean;
  route?: { path: string; methods: Record<string, boolean> };
}

/** The methods of the request's path, in capitals; empty where the path does not exist. */
export function allowedMethods(request: Request): string[] {
  const path = pathOf(request);
  const served = routesOf(request.app).filter((layer) => matches(layer, path));
  const names = new Set(
    served.flatMap(({ route }) => Object.keys(route?.methods ?? {})).map((name) => name.toUpperCase()),
  );
  if (names.has('GET')) names.add('HEAD');
  return [...names].sort();
}

/**
 * A path that is a route by its letters is never taken for the parameter of another one, whatever the method: `/users/me` is
 * not `/users/:user_id`. So a wrong method is found before anything is asked of the parameter. Called after the last route.
 */
export function literalsFirst(app: Express): void {
  const layers = routesOf(app);
  const paths = layers.flatMap(({ route }) => route?.path ?? []);
  for (const layer of layers) {
    const closer = paths.filter((path) => isCloser(path, layer.route?.path ?? ''));
    if (closer.length === 0) continue;
    const taken = new RegExp(`^(?:${[...new Set(closer)].map(patternOf).join('|')})/?$`, 'i');
    const match = layer.match.bind(layer);
    layer.match = (path) => !taken.test(path) && match(path);
  }
}

/** Whether all paths of the first pattern are also paths of the second, which has a parameter where the first has letters. */
function isCloser(path: string, wide: string): boolean {
  const [own, others] = [path.split('/'), wide.split('/')];
  if (own.length !== others.length) return false;
  const differing = own.filter((part, index) => part !== others[index] && !isParameter(part));
  return differing.length > 0 && own.every((part, at) => part === others[at] || isParameter(others[at]));
}

const isParameter = (part = ''): boolean => part.startsWith(':');

const patternOf = (path: string): string =>
  path
    .split('/')
    .map((part) => (isParameter(part) ? '[^/]+' : part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')))
    .join('/');

function routesOf({ router }: Pick<Express, 'router'>): Layer[] {
  const layers: unknown[] = router.stack;
  return layers.filter(isRoute);
}

/** Nest's own layers around unprefixed routes serve every method; no route of ours serves TRACE. */
function isRoute(value: unknown): value is Layer {
  if (!isObject(value) || typeof value['match'] !== 'function' || !isObject(value['route'])) return false;
  const { path, methods } = value['route'];
  return typeof path === 'string' && isObject(methods) && !('trace' in methods);
}

function matches(layer: Layer, path: string): boolean {
  try {
    return layer.match(path);
  } catch {
    return true; // a broken percent-encoding, in the parameter of this path
  }
}
