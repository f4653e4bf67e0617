import { BadRequestException, NotFoundException, StreamableFile } from '@nestjs/common';
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
import { getOrCreate } from '../common/maps.js';
import { LOCAL_USER_HEADER, toUnixAddress, normalizeAddress } from './request-headers.js';
import { type Preparation, createLimitedServer } from './server.js';
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
  /** The routes of the service. Until they are set, Express handles every request. */
  routes = new RouteNode();
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
   * Runs the route of a request, and sets the Express properties that this service uses. Passes other requests to
   * Express, which serves the files of Swagger UI.
   */
  private route(request: Request, response: Response): void {
    const sendError = (error: unknown = new NotFoundException()): void => {
      this.sendError(error, request, response);
    };
    const { url, method } = request;
    const path = url.startsWith('/') ? getPath(request) : (URL.parse(url)?.pathname ?? url);
    const segments = path.split('/');
    const found = this.routes.find(segments);
    const route = found?.byMethod.get(method);
    const params = route && decodeParams(route, segments);
    if (!found) this.getInstance<Express>()(request, response);
    else if (!route) sendError(createMethodError(method, found));
    else if (!params) sendError(new BadRequestException());
    else {
      request.params = params;
      request.res = response;
      request.originalUrl = url;
      route.dispatch(request, response, sendError);
    }
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
    if (!response.hasHeader('Content-Type'))
      response.setHeader('Content-Type', 'application/json; charset=utf-8');
    response.setHeader('Content-Length', Buffer.byteLength(json));
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

/** Segment of the tree for `:name`, which matches one segment, and for `*name`, which matches all further segments. */
const PARAMETER = ':';
const WILDCARD = '*';

/**
 * The routes by the segments of their paths. A literal segment takes precedence over a parameter, for every method:
 * `/users/me` never matches `/users/:user_id`. Express would compare each request with most routes.
 */
class RouteNode {
  /** Routes of the path that ends here, by method in upper case. */
  readonly byMethod = new Map<string, Route>();
  private readonly children = new Map<string, RouteNode>();

  getOrAddChild(segment: string): RouteNode {
    const isVariable = segment.startsWith(PARAMETER) || segment.startsWith(WILDCARD);
    return getOrCreate(this.children, isVariable ? segment.charAt(0) : segment, () => new RouteNode());
  }

  /** Returns the node of a path that has at least one route. Ignores a slash at the end of the path. */
  find(segments: readonly string[], at = 0): RouteNode | undefined {
    const segment = segments[at] ?? '';
    if (segment === '' && at >= segments.length - 1) return this.byMethod.size > 0 ? this : undefined;
    return (
      this.children.get(segment)?.find(segments, at + 1) ??
      (segment === '' ? undefined : this.children.get(PARAMETER)?.find(segments, at + 1)) ??
      this.children.get(WILDCARD)
    );
  }
}

/** Creates the tree of the routes that have been added so far. */
export function buildRouteTree({ router }: Express): RouteNode {
  const tree = new RouteNode();
  const layers: unknown[] = router.stack;
  for (const route of layers.map((layer) => isObject(layer) && layer['route']).filter(isRoute)) {
    const segments = route.path.replace(/\/$/, '').split('/');
    const { byMethod } = segments.reduce((parent, segment) => parent.getOrAddChild(segment), tree);
    for (const method in route.methods) byMethod.set(method.toUpperCase(), route);
    if (route.methods['get']) byMethod.set('HEAD', route);
  }
  return tree;
}

/**
 * Returns true for a route of this service. Nest's own layers serve every method, so the method TRACE identifies them.
 */
function isRoute(value: unknown): value is Route {
  if (!isObject(value)) return false;
  const { path, methods } = value;
  return typeof path === 'string' && isObject(methods) && !('trace' in methods);
}

/** Decodes the parameters of a path. Returns undefined for malformed percent-encoding. */
function decodeParams({ path }: Route, segments: readonly string[]): Request['params'] | undefined {
  const params: Request['params'] = {};
  try {
    for (const [at, segment] of path.split('/').entries()) {
      const name = segment.slice(1);
      if (segment.startsWith(PARAMETER)) params[name] = decodeURIComponent(segments[at] ?? '');
      if (segment.startsWith(WILDCARD)) params[name] = segments.slice(at).map(decodeURIComponent);
    }
    return params;
  } catch {
    return undefined;
  }
}

function createMethodError(method: string, { byMethod }: RouteNode): ProblemError {
  const allow = [...byMethod.keys()].sort().join(', ');
  const detail = `This path does not support ${method}. Use ${allow}.`;
  return new ProblemError('method_not_allowed', detail, { headers: { Allow: allow } });
}
