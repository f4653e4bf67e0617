import { Injectable } from '@nestjs/common';
import { parseCookie } from 'cookie';
import type { CookieOptions, Request, Response } from 'express';
import { Env } from '../platform/config/env.js';
import type { LoggedIn } from './login.guard.js';
import { DEVICE_SECONDS, MAX_DEVICE_TOKENS } from './login-throttle.service.js';

/** Reads, sets and clears the session cookie and the device cookie of a browser. */
@Injectable()
export class SessionCookie {
  readonly name: string;
  private readonly deviceName: string;
  private readonly options: CookieOptions;

  constructor(env: Env) {
    this.name = env.sessionCookieName;
    // Browsers accept the prefix `__Host-` only with `Path=/`.
    this.deviceName = `${this.name.replace(/^__Host-/, '__Secure-')}_device`;
    const secure = env.isHttps;
    this.options = { httpOnly: true, sameSite: 'lax', path: '/', secure, encode: (value) => value };
  }

  read(request: Request): string | undefined {
    return parse(request)[this.name];
  }

  /** Returns the tokens of the device cookie, without checking that they exist. Skips other text. */
  readDeviceTokens(request: Request): string[] {
    return parse(request)[this.deviceName]?.match(TOKEN)?.slice(0, MAX_DEVICE_TOKENS) ?? [];
  }

  /** Sets the session cookie, and after it the device cookie, because some clients read only the first cookie. */
  write(response: Response, { token, deviceTokens }: LoggedIn): void {
    response.cookie(this.name, token, this.options);
    if (deviceTokens.length === 0) return;
    const options = { ...this.options, path: '/api/0.3/sessions', maxAge: DEVICE_SECONDS * 1000 };
    response.cookie(this.deviceName, deviceTokens.join('.'), options);
  }

  clear(response: Response): void {
    response.clearCookie(this.name, this.options);
  }
}

/** Pattern of a token that `createToken` returns. */
const TOKEN = /[\w-]{43}/g;

/** Parses cookies without decoding their values, which would take long for thousands of invalid values. */
const parse = ({ headers }: Request) => parseCookie(headers.cookie ?? '', { decode: (value) => value });
