import { NotFoundException, StreamableFile } from '@nestjs/common';
import { ExpressAdapter } from '@nestjs/platform-express';
import express, { type Express, type Request, type Response, request as expressRequest } from 'express';
import {
  IncomingMessage,
  type OutgoingHttpHeader,
  type OutgoingHttpHeaders,
  type Server,
  ServerResponse,
} from 'node:http';
import { ProblemError } from '../common/errors.js';
import { getPath } from '../telemetry/observe.js';
import { isObject } from '../common/json.js';
import { LOCAL_USER_HEADER, toUnixAddress, normalizeAddress } from './request-headers.js';
import { MIN_COMPRESSED_BYTES, type Preparation, createLimitedServer, addEncodingToVary } from './server.js';
import { closeIfBodyUnread } from './body-reader.js';

const SMALL_CHUNK_BYTES = 256;
/** Number of small chunks after which the service stops reading from a client until other requests have run. */
const MAX_SMALL_CHUNKS = 500;

type Headers = OutgoingHttpHeaders | OutgoingHttpHeader[];
type WriteHeadArguments =
  [statusMessage?: string | undefined, headers?: Headers | undefined] | [headers?: Headers | undefined];
type Options = NonNullable<Parameters<ExpressAdapter['initHttpServer']>[0]>;

declare module 'express-serve-static-core' {
  interface Request {
    /** True for requests on the private socket. */
    isLocal?: true;
  }
}

type SendError = (error: unknown, request: Request, response: Response) => unknown;

/**
 * Nest's Express adapter without the overhead that takes half the time of a short request (docs/performance.md). Stock
 * Express replaces the prototypes of each request and response, which slows V8 down. It also matches middleware like
 * routes, and its `json` reads application settings for each response.
 */
export class FastExpressAdapter extends ExpressAdapter {
  /** Server for local commands on the private socket, with the same routes as the public server. */
  localServer!: Server;
  /** Functions that run for every request, in this order. They cost less than Express middleware. */
  preparations: readonly Preparation[] = [];
  /** State of the service. While it is ending, every connection is closed after its response. */
  state: { readonly ending: boolean } = { ending: false };
  private startup: Promise<unknown> | undefined;
  /** Sends the response to a rejected request. Until it is set, such a request gets no response. */
  sendError: SendError = (_error, _request, response) => response.destroy();
  /** Finds the route of a request faster than Express. Until it is set, Express finds every route. */
  findRoute: RouteFinder = () => undefined;
  private getAddress: (request: Request) => string | undefined = getPeerAddress;
  private checkForwarded: ((request: Request) => ProblemError | undefined) | undefined;

  constructor() {
    // A proxy that blocks a path usually compares it exactly, so other spellings must not match a route.
    super(express().enable('case sensitive routing'));
    this.getInstance<Express>().router.stack.length = 0; // removes Nest's hook middleware, which `preparations` replace
  }

  /**
   * Takes client addresses from trusted proxies (`trust proxy` of Express). A forwarded value that is not an IP address is
   * rejected before routing, so that log, audit and limits receive only normalized addresses.
   */
  trustProxies(): void {
    const expressIp = Object.getOwnPropertyDescriptor(expressRequest, 'ip');
    const getForwardedAddress = (request: Request): string => String(expressIp?.get?.call(request));
    this.getAddress = (each) => normalizeAddress(getForwardedAddress(each)) ?? getPeerAddress(each);
    this.checkForwarded = (each) => {
      if (each.headers['x-forwarded-for'] === undefined) return undefined;
      if (normalizeAddress(getForwardedAddress(each)) !== undefined) return undefined;
      const detail = 'X-Forwarded-For contains an invalid IP address. Check the proxy configuration.';
      return new ProblemError('invalid_parameter', detail);
    };
  }

  delayRequestsUntil(ready: Promise<unknown>): void {
    this.startup = ready.catch(() => undefined).finally(() => (this.startup = undefined));
  }

  /** Creates requests and responses with the prototypes of Express, so that Express does not replace them. */
  override initHttpServer(options: Options): void {
    const app = this.getInstance<Express>();
    const isEnding = (): boolean => this.state.ending;
    class Incoming extends IncomingMessage {
      /** Client address, stored on arrival because the connection may close later. */
      address: string | undefined = undefined;

      private smallChunks: Buffer[] | undefined = undefined;

      get ip(): string | undefined {
        return this.address;
      }

      /** Joins the small chunks of a packet, because each of thousands of chunks would otherwise cost a stream event. */
      override push(chunk: Buffer | null, encoding?: BufferEncoding): boolean {
        if (!chunk || chunk.length > SMALL_CHUNK_BYTES) {
          this.pushSmallChunks();
          return super.push(chunk, encoding);
        }
        if (!this.smallChunks) {
          this.smallChunks = [];
          setImmediate(() => {
            this.pushSmallChunks();
          });
        }
        return this.smallChunks.push(chunk) < MAX_SMALL_CHUNKS;
      }

      private pushSmallChunks(): void {
        const chunks = this.smallChunks;
        this.smallChunks = undefined;
        if (chunks) super.push(Buffer.concat(chunks));
      }
    }
    class Outgoing<R extends IncomingMessage = IncomingMessage> extends ServerResponse<R> {
      override writeHead(status: number, ...[first, second]: WriteHeadArguments): this {
        closeIfBodyUnread(this);
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
    const refuse = (rejection: ProblemError, incoming: IncomingMessage, outgoing: ServerResponse): void => {
      const [request, response] = [incoming as Request, outgoing as Response];
      request.originalUrl = incoming.url ?? '';
      response.setHeader('Connection', 'close');
      this.sendError(rejection, request, response);
    };
    const serve = (incoming: IncomingMessage, outgoing: ServerResponse, rejection?: ProblemError): void => {
      const [request, response] = [incoming as Request, outgoing as Response];
      for (const prepare of this.preparations) prepare(request, response);
      if (incoming instanceof Incoming) incoming.address = this.getAddress(request);
      routeOrRefuse(request, response, rejection ?? this.checkForwarded?.(request));
    };
    const serveLocalRequest: typeof serve = (incoming, outgoing, rejection) => {
      const [request, response] = [incoming as Request, outgoing as Response];
      for (const prepare of this.preparations) prepare(request, response);
      request.isLocal = true;
      if (incoming instanceof Incoming) incoming.address = toUnixAddress(request.headers[LOCAL_USER_HEADER]);
      response.setHeader('Connection', 'close'); // closes the connection of a command after the response, because an idle connection would delay the shutdown
      routeOrRefuse(request, response, rejection);
    };
    const routeOrRefuse = (request: Request, response: Response, error: ProblemError | undefined): void => {
      if (error) refuse(error, request, response);
      else if (this.startup) void this.startup.then(this.route.bind(this, request, response));
      else this.route(request, response);
    };
    this.httpServer = createLimitedServer(options.httpsOptions, classes, serve, refuse);
    this.localServer = createLimitedServer(undefined, classes, serveLocalRequest, refuse);
    this.localServer.requestTimeout = 0; // 0 turns the limit off, because a command may send a file that it reads slowly from standard input
  }

  /**
   * Runs the route of a request, and sets the Express properties that this service uses. Passes a request that the
   * index does not find to Express.
   */
  private route(request: Request, response: Response): void {
    const found = this.findRoute(request);
    if (!found) return void this.getInstance<Express>()(request, response);
    const next = (error: unknown = new NotFoundException()) => void this.sendError(error, request, response);
    request.res = response;
    request.originalUrl = request.url;
    request.params = found.params;
    found.route.dispatch(request, response, next);
  }

  override async close(): Promise<void> {
    const isClosed = new Promise((resolve) => this.localServer.close(resolve));
    await Promise.all([super.close(), isClosed]);
  }

  /** Sends an object as JSON without Express's slower `json`. */
  override reply(response: Response, body: unknown, status?: number): unknown {
    const isJson = typeof body === 'object' && body !== null && !(body instanceof StreamableFile);
    if (!isJson) return super.reply(response, body, status);
    if (status !== undefined) response.statusCode = status;
    const json = JSON.stringify(body);
    const length = Buffer.byteLength(json);
    if (!response.hasHeader('Content-Type'))
      response.setHeader('Content-Type', 'application/json; charset=utf-8');
    response.setHeader('Content-Length', length);
    if (length >= MIN_COMPRESSED_BYTES) addEncodingToVary(response);
    return response.end(json);
  }
}

function getPeerAddress({ socket }: Request): string | undefined {
  return normalizeAddress(socket.remoteAddress ?? '');
}

interface Route {
  path: string;
  methods: Record<string, boolean>;
  dispatch(request: Request, response: Response, next: (error?: unknown) => void): void;
}

interface Layer {
  match(path: string): boolean;
  route: Route;
}

/**
 * Returns the methods that the path of a request supports, in upper case. Returns an empty list for an unknown path.
 */
export function findAllowedMethods(request: Request): string[] {
  const path = getPath(request);
  const served = getRoutes(request.app).filter((layer) => matchesPath(layer, path));
  const names = served.flatMap(({ route }) => Object.keys(route.methods));
  const methods = new Set(names.map((name) => name.toUpperCase()));
  if (methods.has('GET')) methods.add('HEAD');
  return [...methods].sort();
}

/**
 * Gives literal routes precedence over routes with parameters, for every method: `/users/me` never matches
 * `/users/:user_id`. Call it after the last route is added.
 */
export function prioritizeLiteralRoutes(app: Express): void {
  const layers = getRoutes(app);
  const paths = layers.map(({ route }) => route.path);
  for (const layer of layers) {
    const closer = paths.filter((path) => isMoreSpecific(path, layer.route.path));
    if (closer.length === 0) continue;
    const taken = new RegExp(`^(?:${[...new Set(closer)].map(toPattern).join('|')})/?$`, 'i');
    const match = layer.match.bind(layer);
    layer.match = (path) => !taken.test(path) && match(path);
  }
}

/**
 * Returns true if `widerPath` matches every path that `path` matches, and has a parameter where `path` has a literal.
 */
function isMoreSpecific(path: string, widerPath: string): boolean {
  const [own, others] = [path.split('/'), widerPath.split('/')];
  if (own.length !== others.length) return false;
  const differing = own.filter((part, index) => part !== others[index] && !isParameter(part));
  return differing.length > 0 && own.every((part, at) => part === others[at] || isParameter(others[at]));
}

const isParameter = (part = ''): boolean => part.startsWith(':');

const toPattern = (path: string): string =>
  path
    .split('/')
    .map((part) => (isParameter(part) ? '[^/]+' : part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')))
    .join('/');

type RouteFinder = (request: Request) => { route: Route; params: Record<string, string> } | undefined;

/** Matches a path that needs no decoding. No route has more than eight segments. */
const PLAIN_PATH = /^(?:\/[\w.~-]+){1,8}(?=\?|$)/;

/**
 * Creates an index of the routes, because Express compares each request with most routes. Express handles requests that
 * the index does not find: HEAD requests, encoded paths, and parameters that equal a literal segment of any route.
 * Must be called after `prioritizeLiteralRoutes` and before middleware is added, because the index contains only
 * routes.
 */
export function indexRoutes({ router }: Express): RouteFinder {
  const literals = new Set<string>();
  const index = new Map<string, { route: Route; names: string[] }>();
  for (const { route } of getRoutes({ router })) {
    const segments = route.path.split('/');
    const names = segments.filter(isParameter).map((segment) => segment.slice(1));
    for (const segment of segments) if (!isParameter(segment)) literals.add(segment.toLowerCase());
    const shape = segments.map((segment) => (isParameter(segment) ? ':' : segment)).join('/');
    for (const method in route.methods) index.set(`${method.toUpperCase()}/${shape}`, { route, names });
  }
  return ({ method, url }) => {
    let shape = method;
    const values: string[] = [];
    for (const segment of PLAIN_PATH.exec(url)?.[0].split('/') ?? []) {
      const isLiteral = literals.has(segment.toLowerCase());
      if (!isLiteral) values.push(segment);
      shape += isLiteral ? `/${segment}` : '/:';
    }
    const found = index.get(shape);
    const entries = found?.names.map((name, at) => [name, values[at] ?? ''] as const) ?? [];
    return found && { route: found.route, params: Object.fromEntries(entries) };
  };
}

function getRoutes({ router }: Pick<Express, 'router'>): Layer[] {
  const layers: unknown[] = router.stack;
  return layers.filter(isRoute);
}

/**
 * Returns true for a route of this service. Nest's own layers serve every method, so the method TRACE identifies them.
 */
function isRoute(value: unknown): value is Layer {
  if (!isObject(value) || typeof value['match'] !== 'function' || !isObject(value['route'])) return false;
  const { path, methods } = value['route'];
  return typeof path === 'string' && isObject(methods) && !('trace' in methods);
}

function matchesPath(layer: Layer, path: string): boolean {
  try {
    return layer.match(path);
  } catch {
    return true; // the path matches, but a parameter has malformed percent-encoding
  }
}
