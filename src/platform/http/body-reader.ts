import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';
import pLimit from 'p-limit';
import { ProblemError, errorCode } from '../common/errors.js';
import { Env } from '../config/env.js';
import { BodyBudget } from './body-budget.js';
import { type BodyRules, UNPACKED_AT_ONCE, WINDOW_BYTES } from './bounds.js';

type Encoding = keyof typeof WINDOW_BYTES;
const UNPACK = { gzip: promisify(gunzip), deflate: promisify(inflate), br: promisify(brotliDecompress) };
const isEncoding = (name: string): name is Encoding => Object.hasOwn(UNPACK, name);

/**
 * Reads bodies within the bounds of this service. A body is unpacked only when all of it is here, so that a client that
 * does not end it holds its bytes and no decompressor.
 */
@Injectable()
export class BodyReader {
  private readonly inTurn = pLimit(UNPACKED_AT_ONCE);
  private readonly seconds: number;

  constructor(
    private readonly budget: BodyBudget,
    env: Env,
  ) {
    this.seconds = env.REQUEST_TIMEOUT_SECONDS;
  }

  /**
   * The bytes of a body, unpacked.
   * @throws ProblemError `unsupported_media_type` for an encoding that is not taken; `too_large`, at once where the headers
   * tell; `request_timeout`; `unavailable` while other bodies hold all memory; `malformed_json` when it breaks off.
   */
  async read(request: Request, response: Response, rules: BodyRules): Promise<Buffer> {
    const encoding = encodingOf(request, rules);
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
    return this.inTurn(async () => {
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
    } else {
      if (length > this.buffer.length) this.grow(Math.max(length, 2 * this.buffer.length));
      piece.copy(this.buffer, this.length);
    }
    this.length = length;
  }

  bytes(): Buffer {
    return this.buffer.subarray(0, this.length);
  }

  private grow(size: number): void {
    const room = Math.min(size, this.rules.maxBytes);
    this.take(room - this.buffer.length);
    const grown = Buffer.allocUnsafeSlow(room);
    this.buffer.copy(grown, 0, 0, this.length);
    this.buffer = grown;
  }
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
