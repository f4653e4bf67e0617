import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { isUtf8 } from 'node:buffer';
import { setImmediate } from 'node:timers/promises';
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { ProblemError, errorCodeOf, createUnavailableError } from '../common/errors.js';
import { FairSemaphore } from '../common/fair-semaphore.js';
import { Env } from '../config/env.js';
import { type JsonObject, isObject, findJsonExcess } from '../common/json.js';
import type { RequestObserver } from '../telemetry/observe.js';
import { Metrics } from '../telemetry/metrics.js';

const KIB = 1024;
const MIB = 1024 * KIB;

export interface BodyRules {
  /** Maximum size in bytes. The limit applies to the body as it was sent, and again to the decompressed body. */
  maxBytes: number;
  /** Maximum number of JSON values, including members and items. Parsed values cost more memory and time than their bytes. */
  maxValues: number;
  /** True if the route accepts a `Content-Encoding`. */
  compressed: boolean;
  /** Accepted media types, in lower case. */
  types: readonly string[];
}

/**
 * Default limits, which are many times the size of the largest valid user. Parsing 85,000 members blocked the main
 * thread for 115 ms.
 */
const JSON_BODY = { maxBytes: MIB, maxValues: 20_000, compressed: true, types: ['application/json'] };

/** Limits of SCIM bodies. Identity providers send either media type (RFC 7644, section 3.1). */
export const SCIM_BODY = { types: ['application/scim+json', 'application/json'] } as const;

/** Limits of a SCIM group with about ten thousand members. */
export const SCIM_GROUP_BODY = { ...SCIM_BODY, maxBytes: 4 * MIB, maxValues: 200_000 } as const;

/** Limits of a SCIM bulk request with a thousand users or groups (RFC 7644, section 3.7.4). */
export const SCIM_BULK_BODY = { ...SCIM_GROUP_BODY } as const;

/** Limits of a login request. They allow only a small, uncompressed body, because unauthenticated clients send it. */
export const LOGIN_BODY = { maxBytes: 4 * KIB, maxValues: 100, compressed: false } as const;

/** Maximum nesting depth of JSON. Every valid body is shallower, and recursive code is safe at this depth. */
const JSON_DEPTH = 32;

/** Maximum number of different member names in a body, because the parser takes several microseconds for a new name. */
const MAX_NAMES = 8_000;

/**
 * Memory limit for all request bodies that this process is receiving or processing: buffers, decompressed bytes and
 * decompressor windows.
 */
export const IN_FLIGHT_BYTES = 64 * MIB;

/** Memory that an upload reserves. It holds one chunk of the file, and the copy that is sent to the database. */
export const UPLOAD_BYTES = MIB;

/**
 * Maximum memory of a decompressor, excluding its output. The sender chooses the Brotli window size (RFC 7932, section
 * 9.1).
 */
const WINDOW_BYTES = { gzip: 64 * KIB, deflate: 64 * KIB, br: 16 * MIB } as const;

/** Maximum concurrent decompressions. They share the thread pool with file reads and password hashing. */
const MAX_DECOMPRESSIONS = 2;

/**
 * Time for which a connection stays open after a response to a partly read request. Closing it at once would reset it,
 * and a client that is still sending would lose the response (RFC 9112, section 9.6).
 */
const LINGER_MILLIS = 2000;
/** Maximum number of bytes that are received and discarded during `LINGER_MILLIS`. */
const LINGER_BYTES = MIB;

/**
 * Limits the memory that the bodies of all requests use together. A request keeps its reservation until its response
 * has ended.
 */
@Injectable()
export class BodyBudget implements RequestObserver {
  private readonly reservations = new WeakMap<Response, number>();
  /** Number of reserved bytes. */
  bytes = 0;

  constructor(metrics: Metrics) {
    metrics.addGauge(
      'rollcall_body_bytes',
      `Memory reserved for request bodies, in bytes. At ${IN_FLIGHT_BYTES}, further requests get 503.`,
      () => this.bytes,
    );
  }

  /**
   * Reserves memory until the response has ended.
   * @throws ProblemError `unavailable` if the limit would be exceeded, `malformed_json` if the client has disconnected.
   */
  reserve(response: Response, bytes: number): void {
    if (response.closed)
      throw new ProblemError('malformed_json', 'The connection was closed before the whole body arrived.');
    if (this.bytes + bytes > IN_FLIGHT_BYTES) {
      throw createUnavailableError('The service is receiving too many request bodies. Try again later.', 1);
    }
    this.add(response, bytes);
  }

  release(response: Response, bytes: number): void {
    this.add(response, -Math.min(bytes, this.reservations.get(response) ?? 0));
  }

  onRequestEnd(_request: Request, response: Response): void {
    const bytes = this.reservations.get(response);
    if (bytes !== undefined) this.add(response, -bytes);
  }

  private add(response: Response, bytes: number): void {
    this.bytes += bytes;
    this.reservations.set(response, (this.reservations.get(response) ?? 0) + bytes);
  }
}

type Encoding = keyof typeof WINDOW_BYTES;
const DECODERS = { gzip: promisify(gunzip), deflate: promisify(inflate), br: promisify(brotliDecompress) };
const isContentEncoding = (name: string): name is Encoding => Object.hasOwn(DECODERS, name);

const MISSING_BODY = 'The request body is missing. Send a JSON object.';

const MEDIA_TYPE = /^([a-z+/]+)\s*(?:;\s*charset="?utf-?8"?\s*)?$/i;

/**
 * Reads request bodies within size and time limits. Decompression starts after the whole body has arrived, so a slow
 * client never occupies a decompressor.
 */
@Injectable()
export class BodyReader {
  private readonly decompressions = new FairSemaphore({ slots: MAX_DECOMPRESSIONS });
  private readonly seconds = this.env.REQUEST_TIMEOUT_SECONDS;

  constructor(
    private readonly budget: BodyBudget,
    private readonly env: Env,
  ) {}

  /**
   * Reads the JSON object in a request's body.
   * @param ownRules rules of the route, which override `JSON_BODY`.
   * @throws ProblemError the errors of `BodyReader.read`, and `malformed_json` unless the body is one JSON object in
   * UTF-8.
   */
  async readJson(request: Request, response: Response, ownRules: Partial<BodyRules>): Promise<JsonObject> {
    const rules = { ...JSON_BODY, ...ownRules };
    if (!hasBody(request)) throw new ProblemError('malformed_json', MISSING_BODY);
    const [, type = ''] = MEDIA_TYPE.exec(request.headers['content-type'] ?? '') ?? [];
    if (!rules.types.includes(type.toLowerCase())) {
      const types = rules.types.join(' or ');
      throw createMediaTypeError(`Unsupported Content-Type. Send the body as ${types} in UTF-8.`);
    }
    return parseObject(await this.read(request, response, rules), rules);
  }

  /**
   * Reads the bytes of a body and decompresses them.
   * @throws ProblemError `unsupported_media_type` for an unsupported encoding, `too_large`, `request_timeout`,
   * `unavailable` if other bodies use all memory, and `malformed_json` if the client disconnects.
   */
  async read(request: Request, response: Response, rules: BodyRules): Promise<Buffer> {
    const { headers } = request;
    const encoding = headers['content-encoding'] === undefined ? undefined : parseEncoding(request, rules);
    if (Number(headers['content-length'] ?? 0) > rules.maxBytes) throw createTooLargeError(rules);
    sendContinue(request);
    const sent = await this.receive(request, response, rules);
    return encoding ? this.decompress(sent, encoding, response, rules) : sent;
  }

  private receive(request: Request, response: Response, rules: BodyRules): Promise<Buffer> {
    const body = new BodyBuffer(rules, (bytes) => {
      this.budget.reserve(response, bytes);
    });
    return new Promise((resolve, reject) => {
      const detail = `The body did not arrive within ${this.seconds} seconds.`;
      const timer = request.complete
        ? undefined
        : setTimeout(() => {
            fail(new ProblemError('request_timeout', detail));
          }, this.seconds * 1000);
      const removeListeners = (): void => {
        clearTimeout(timer);
        request.off('data', add).off('end', end).off('error', failIncomplete).off('close', failIncomplete);
      };
      const fail = (error: unknown): void => {
        removeListeners();
        request.pause();
        reject(error instanceof Error ? error : new Error(String(error)));
      };
      const add = (chunk: Buffer): void => {
        try {
          body.add(chunk);
        } catch (error) {
          fail(error);
        }
      };
      const end = (): void => {
        removeListeners();
        resolve(body.toBuffer());
      };
      const failIncomplete = (): void => {
        fail(createIncompleteError());
      };
      request.on('data', add).on('end', end).on('error', failIncomplete).on('close', failIncomplete);
      if (request.destroyed) failIncomplete(); // no event follows if the client disconnected before the listeners were added
    });
  }

  private decompress(raw: Buffer, encoding: Encoding, response: Response, rules: BodyRules): Promise<Buffer> {
    return this.decompressions.run([], async () => {
      const reserved = rules.maxBytes + WINDOW_BYTES[encoding];
      this.budget.reserve(response, reserved);
      const decoding = DECODERS[encoding](raw, { maxOutputLength: rules.maxBytes });
      const decoded = await decoding.catch((error: unknown) => {
        const isTooLarge = errorCodeOf(error) === 'ERR_BUFFER_TOO_LARGE';
        throw isTooLarge ? createTooLargeError(rules) : createIncompleteError();
      });
      this.budget.release(response, reserved - decoded.length);
      return decoded;
    });
  }
}

/** Sends `100 Continue` to a client that waits for it before sending the body (RFC 9110, section 10.1.1). */
export function sendContinue({ headers, res }: Request): void {
  if (headers.expect !== undefined) res?.writeContinue();
}

/**
 * Collects the chunks of a body in one buffer, which doubles its size when it is full. The memory therefore does not
 * depend on the sizes of the chunks.
 */
class BodyBuffer {
  private buffer: Buffer = Buffer.alloc(0);
  private length = 0;

  constructor(
    private readonly rules: BodyRules,
    private readonly reserve: (size: number) => void,
  ) {}

  /** @throws ProblemError `too_large`, and every error of `reserve`. */
  add(chunk: Buffer): void {
    const length = this.length + chunk.length;
    if (length > this.rules.maxBytes) throw createTooLargeError(this.rules);
    if (this.length === 0) {
      this.reserve(length);
      this.buffer = chunk; // most bodies consist of one chunk, which need not be copied
    } else {
      if (length > this.buffer.length) this.growTo(length);
      chunk.copy(this.buffer, this.length);
    }
    this.length = length;
  }

  toBuffer(): Buffer {
    return this.buffer.subarray(0, this.length);
  }

  private growTo(length: number): void {
    const size = Math.min(Math.max(length, 2 * this.buffer.length), this.rules.maxBytes);
    this.reserve(size - this.buffer.length);
    const grown = Buffer.allocUnsafeSlow(size);
    this.buffer.copy(grown, 0, 0, this.length);
    this.buffer = grown;
  }
}

export function createMediaTypeError(detail: string): ProblemError {
  return new ProblemError('unsupported_media_type', detail);
}

function parseEncoding({ headers }: Request, { compressed }: BodyRules): Encoding | undefined {
  const encoding = (headers['content-encoding'] ?? 'identity').toLowerCase();
  if (encoding === 'identity') return undefined;
  if (!compressed)
    throw createMediaTypeError('This route does not accept a Content-Encoding. Send the body uncompressed.');
  if (isContentEncoding(encoding)) return encoding;
  throw createMediaTypeError('Unsupported Content-Encoding. Use gzip, deflate, br or identity.');
}

function createTooLargeError({ maxBytes }: BodyRules): ProblemError {
  const size = maxBytes < 1024 * 1024 ? `${maxBytes / 1024} KiB` : `${maxBytes / 1024 / 1024} MiB`;
  return new ProblemError('too_large', `The body is larger than ${size}.`);
}

const createIncompleteError = (): ProblemError =>
  new ProblemError('malformed_json', 'The body is incomplete or could not be decompressed.');

async function parseObject(body: Buffer, { maxValues }: BodyRules): Promise<JsonObject> {
  if (!isUtf8(body)) throw new ProblemError('malformed_json', 'The body is not valid UTF-8.');
  const text = new TextDecoder().decode(body);
  // Each step can take tens of milliseconds.
  const letOthersRun = async (): Promise<void> => {
    if (body.length > MIB) await setImmediate();
  };
  await letOthersRun();
  const excess = findJsonExcess(text, { depth: JSON_DEPTH, values: maxValues, names: MAX_NAMES });
  if (excess === 'depth')
    throw new ProblemError('malformed_json', `The body is nested deeper than ${JSON_DEPTH} levels.`);
  if (excess) {
    const most = excess === 'names' ? `${MAX_NAMES} different member names` : `${maxValues} JSON values`;
    throw new ProblemError('too_large', `The body has more than ${most}.`);
  }
  await letOthersRun();
  const value = parseJson(text);
  await letOthersRun();
  if (!isObject(value)) throw new ProblemError('malformed_json', 'The body must be a JSON object.');
  return value;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ProblemError('malformed_json', `The body is not valid JSON${formatPosition(error)}.`);
  }
}

/** Returns the position of a syntax error. The rest of the parser's message quotes the body, which may contain a password. */
function formatPosition(error: unknown): string {
  const found = /position \d+/.exec(error instanceof Error ? error.message : '');
  return found ? ` (at ${found[0]})` : '';
}

/** Returns true if a request has a body (RFC 9112, section 6.3). */
function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/**
 * Closes the connection after this response if the request body has not been read completely. Otherwise the service would
 * keep reading for as long as the client sends.
 */
export function closeIfBodyUnread(response: ServerResponse): void {
  const { req: request, socket } = response;
  if (request.complete || !hasBody(request)) return;
  response.setHeader('Connection', 'close');
  if (!socket) return;
  socket.destroySoon = () => {
    closeGracefully(socket);
  };
  const most = socket.bytesRead + LINGER_BYTES;
  request.unpipe();
  request.on('data', () => {
    if (socket.bytesRead > most) request.pause();
  });
  request.resume();
}

/** Flushes and half-closes a connection, and destroys it after `LINGER_MILLIS` unless the client closes it first. */
export function closeGracefully(socket: Socket): void {
  socket.end();
  const timer = setTimeout(() => {
    socket.destroy();
  }, LINGER_MILLIS);
  socket.once('close', () => {
    clearTimeout(timer);
  });
}
