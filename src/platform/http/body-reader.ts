import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { ProblemError, errorCode, unavailable } from '../common/errors.js';
import { FairSemaphore } from '../common/fair-semaphore.js';
import { Env } from '../config/env.js';
import { type JsonObject, isObject, jsonExcess } from '../common/json.js';
import type { Observer } from '../telemetry/observe.js';
import { Metrics } from '../telemetry/metrics.js';

const KIB = 1024;
const MIB = 1024 * KIB;

/** What a route takes as its JSON body. */
export interface BodyRules {
  /** As sent, and again when unpacked. */
  maxBytes: number;
  /** Values, members and items included: parsed, they take more memory and time than their bytes. */
  maxValues: number;
  /** Whether the body may have a `Content-Encoding`. */
  compressed: boolean;
  /** Media types that it may have, in small letters. */
  types: readonly string[];
}

/** Room for the longest user many times over; 85,000 members took 115 ms of the main thread. */
export const JSON_BODY: BodyRules = {
  maxBytes: MIB,
  maxValues: 20_000,
  compressed: true,
  types: ['application/json'],
};

/** SCIM (RFC 7644, section 3.1): providers send either. */
export const SCIM_BODY = { types: ['application/scim+json', 'application/json'] } as const;

/** A group with some ten thousand members. */
export const SCIM_GROUP_BODY = { ...SCIM_BODY, maxBytes: 4 * MIB, maxValues: 200_000 } as const;

/** A thousand users or groups (RFC 7644, section 3.7.4). */
export const SCIM_BULK_BODY = { ...SCIM_GROUP_BODY } as const;

/** A login is a name and a password. Anybody may send one, so it costs a packet or two and no decompressor. */
export const LOGIN_BODY = { maxBytes: 4 * KIB, maxValues: 100, compressed: false } as const;

/** Deeper than anything in the interface, and shallow enough for any code that walks a value. */
const JSON_DEPTH = 32;

/**
 * Memory of all bodies of this process that are arriving or being worked on: buffers, unpacked bytes and the windows of
 * decompressors. Room for 64 of the largest at once. Logins cannot fill it: they are refused at 4 KiB each.
 */
export const IN_FLIGHT_BYTES = 64 * MIB;

/** What an upload holds of its file: the part that is being received, and its copy on the way to the database. */
export const UPLOAD_BYTES = MIB;

/** Most memory of a decompressor besides its output: window and state, which for Brotli the sender chooses (RFC 7932, §9.1). */
const WINDOW_BYTES = { gzip: 64 * KIB, deflate: 64 * KIB, br: 16 * MIB } as const;

/** Bodies that are unpacked at the same time. The threads that do it also read files and hash passwords. */
const UNPACKED_AT_ONCE = 2;

/**
 * How long a connection stays open, and how much more is received and thrown away, after a request was answered before
 * it was read: a client that is still sending would lose the answer if the connection were reset under it (RFC 9112, §9.6).
 */
export const LINGER_MILLIS = 2000;
const LINGER_BYTES = MIB;

/**
 * The memory that the bodies of all requests may take together, so that no number of clients can use up that of the
 * process. What a request takes it keeps until it is answered.
 */
@Injectable()
export class BodyBudget implements Observer {
  private readonly held = new WeakMap<Response, number>();
  private total = 0;

  constructor(metrics: Metrics) {
    metrics.gauge(
      'rollcall_body_bytes',
      `Memory that bodies of requests hold; at ${IN_FLIGHT_BYTES} further ones get 503.`,
      'sum',
      () => this.total,
    );
  }

  /** Bytes that all requests hold. */
  get bytes(): number {
    return this.total;
  }

  /**
   * @throws ProblemError `unavailable` where the budget has no such room; `malformed_json` when the client has gone, whose
   * bytes nobody would give back.
   */
  take(response: Response, bytes: number): void {
    if (response.closed) throw new ProblemError('malformed_json', 'The body broke off.');
    if (this.total + bytes > IN_FLIGHT_BYTES) {
      throw unavailable('The service is receiving as much as it can hold.', 1);
    }
    this.add(response, bytes);
  }

  /** Gives back a part of what the request has taken. */
  give(response: Response, bytes: number): void {
    this.add(response, -Math.min(bytes, this.held.get(response) ?? 0));
  }

  answered(_request: Request, response: Response): void {
    const bytes = this.held.get(response);
    if (bytes !== undefined) this.add(response, -bytes);
  }

  private add(response: Response, bytes: number): void {
    this.total += bytes;
    this.held.set(response, (this.held.get(response) ?? 0) + bytes);
  }
}

type Encoding = keyof typeof WINDOW_BYTES;
const UNPACK = { gzip: promisify(gunzip), deflate: promisify(inflate), br: promisify(brotliDecompress) };
const isEncoding = (name: string): name is Encoding => Object.hasOwn(UNPACK, name);

const NO_BODY = 'The request has no body; a JSON object is needed.';

/** A media type, with no other character set than UTF-8. */
const TYPE = /^([a-z+/]+)\s*(?:;\s*charset="?utf-?8"?\s*)?$/i;

/**
 * Reads bodies within the bounds of this service. A body is unpacked only when all of it is here, so that a client that
 * does not end it holds its bytes and no decompressor.
 */
@Injectable()
export class BodyReader {
  private readonly unpacking = new FairSemaphore({ slots: UNPACKED_AT_ONCE });
  private readonly seconds: number;

  constructor(
    private readonly budget: BodyBudget,
    env: Env,
  ) {
    this.seconds = env.REQUEST_TIMEOUT_SECONDS;
  }

  /**
   * Returns the JSON object in a request's body.
   * @param own the rules of the route that differ from `JSON_BODY`.
   * @throws ProblemError as `BodyReader.read`; `malformed_json` for anything but one JSON object in UTF-8.
   */
  async readJson(request: Request, response: Response, own: Partial<BodyRules>): Promise<JsonObject> {
    const rules = { ...JSON_BODY, ...own };
    if (!hasBody(request)) throw new ProblemError('malformed_json', NO_BODY);
    const [, type = ''] = TYPE.exec(request.headers['content-type'] ?? '') ?? [];
    if (!rules.types.includes(type.toLowerCase())) throw unsupportedType(rules);
    return parse(decode(await this.read(request, response, rules)), rules);
  }

  /**
   * The bytes of a body, unpacked.
   * @throws ProblemError `unsupported_media_type` for an encoding that is not taken; `too_large`, at once where the headers
   * tell; `request_timeout`; `unavailable` while other bodies hold all memory; `malformed_json` when it breaks off.
   */
  async read(request: Request, response: Response, rules: BodyRules): Promise<Buffer> {
    const encoding =
      request.headers['content-encoding'] === undefined ? undefined : encodingOf(request, rules);
    if (Number(request.headers['content-length'] ?? 0) > rules.maxBytes) throw tooLarge(rules);
    wantBody(request);
    const sent = await this.receive(request, response, rules);
    return encoding ? this.unpack(sent, encoding, response, rules) : sent;
  }

  private receive(request: Request, response: Response, rules: BodyRules): Promise<Buffer> {
    const body = new Gathered(rules, (bytes) => {
      this.budget.take(response, bytes);
    });
    return new Promise((resolve, reject) => {
      const detail = `The body did not arrive in ${this.seconds} seconds.`;
      const timer = request.complete
        ? undefined
        : setTimeout(() => {
            fail(new ProblemError('request_timeout', detail));
          }, this.seconds * 1000);
      const leave = (): void => {
        clearTimeout(timer);
        request.off('data', add).off('end', end).off('error', breakOff).off('close', breakOff);
      };
      const fail = (error: unknown): void => {
        leave();
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
        leave();
        resolve(body.bytes());
      };
      const breakOff = (): void => {
        fail(brokenOff());
      };
      request.on('data', add).on('end', end).on('error', breakOff).on('close', breakOff);
      if (request.destroyed) breakOff(); // the client went before anybody listened
    });
  }

  private unpack(sent: Buffer, encoding: Encoding, response: Response, rules: BodyRules): Promise<Buffer> {
    return this.unpacking.run([], async () => {
      const most = rules.maxBytes + WINDOW_BYTES[encoding];
      this.budget.take(response, most);
      const unpacked = await UNPACK[encoding](sent, { maxOutputLength: rules.maxBytes }).catch(
        (error: unknown) => {
          throw errorCode(error) === 'ERR_BUFFER_TOO_LARGE' ? tooLarge(rules) : brokenOff();
        },
      );
      this.budget.give(response, most - unpacked.length);
      return unpacked;
    });
  }
}

/** Tells a client that waits for it to send the body (RFC 9110, section 10.1.1): nothing in its headers stands against it. */
export function wantBody({ headers, res }: Request): void {
  if (headers.expect !== undefined) res?.writeContinue();
}

/** Pieces of a body in one buffer, which grows twofold: a body of single bytes takes no more memory than another one. */
class Gathered {
  private buffer: Buffer = Buffer.alloc(0);
  private length = 0;

  /** @param take is told of every byte of memory before it is used, and throws where there is none. */
  constructor(
    private readonly rules: BodyRules,
    private readonly take: (bytes: number) => void,
  ) {}

  /** @throws ProblemError `too_large`, and whatever `take` throws. */
  add(piece: Buffer): void {
    const length = this.length + piece.length;
    if (length > this.rules.maxBytes) throw tooLarge(this.rules);
    if (this.length === 0) {
      this.take(length);
      this.buffer = piece; // most bodies are one piece
    } else this.append(piece, length);
    this.length = length;
  }

  bytes(): Buffer {
    return this.buffer.subarray(0, this.length);
  }

  private append(piece: Buffer, length: number): void {
    if (length > this.buffer.length) this.grow(Math.max(length, 2 * this.buffer.length));
    piece.copy(this.buffer, this.length);
  }

  private grow(size: number): void {
    const room = Math.min(size, this.rules.maxBytes);
    this.take(room - this.buffer.length);
    const grown = Buffer.allocUnsafeSlow(room);
    this.buffer.copy(grown, 0, 0, this.length);
    this.buffer = grown;
  }
}

function unsupportedType({ types }: BodyRules): ProblemError {
  const detail = `The body must be sent as ${types.join(' or ')}, in UTF-8.`;
  return new ProblemError('unsupported_media_type', detail);
}

function encodingOf({ headers }: Request, { compressed }: BodyRules): Encoding | undefined {
  const encoding = (headers['content-encoding'] ?? 'identity').toLowerCase();
  if (encoding === 'identity') return undefined;
  if (!compressed) {
    throw new ProblemError('unsupported_media_type', 'Send this body without a Content-Encoding.');
  }
  if (isEncoding(encoding)) return encoding;
  const detail = 'The Content-Encoding must be gzip, deflate, br or identity.';
  throw new ProblemError('unsupported_media_type', detail);
}

function tooLarge({ maxBytes }: BodyRules): ProblemError {
  const size = maxBytes < 1024 * 1024 ? `${maxBytes / 1024} KiB` : `${maxBytes / 1024 / 1024} MiB`;
  return new ProblemError('too_large', `The body has more than ${size}.`);
}

const brokenOff = (): ProblemError =>
  new ProblemError('malformed_json', 'The body broke off or could not be unpacked.');

/** Returns what `work` returns. @throws ProblemError `malformed_json` with a detail for what `work` throws. */
function orMalformed<T>(work: () => T, toDetail: (error: unknown) => string): T {
  try {
    return work();
  } catch (error) {
    throw new ProblemError('malformed_json', toDetail(error));
  }
}

const decode = (body: Uint8Array): string =>
  orMalformed(
    () => new TextDecoder('utf-8', { fatal: true }).decode(body),
    () => 'The body is not valid UTF-8.',
  );

function parse(text: string, { maxValues }: BodyRules): JsonObject {
  const excess = jsonExcess(text, { depth: JSON_DEPTH, values: maxValues });
  if (excess) throw toExcessError(excess, maxValues);
  const value = orMalformed<unknown>(
    () => JSON.parse(text),
    (error) => `The body is not valid JSON${position(error)}.`,
  );
  if (!isObject(value)) throw new ProblemError('malformed_json', 'The body must be a JSON object.');
  return value;
}

const toExcessError = (excess: 'depth' | 'values', maxValues: number): ProblemError =>
  excess === 'depth'
    ? new ProblemError('malformed_json', `The body is nested deeper than ${JSON_DEPTH} levels.`)
    : new ProblemError('too_large', `The body holds more than ${maxValues} values.`);

/** Where the parser stopped; the rest of its message quotes the body, which may hold a password. */
function position(error: unknown): string {
  const found = /position \d+/.exec(error instanceof Error ? error.message : '');
  return found ? ` (at ${found[0]})` : '';
}

/** Whether a request has a body (RFC 9112, section 6.3). */
function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/**
 * Closes the connection with an answer that begins before the whole body has arrived. The service would otherwise read on
 * for as long as the client sends.
 */
export function closeIfUnread(response: ServerResponse): void {
  const { req: request } = response;
  if (!request.complete && hasBody(request)) stopReading(request, response);
}

function stopReading(request: IncomingMessage, response: ServerResponse): void {
  const { socket } = response;
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
