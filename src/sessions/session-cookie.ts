import { Injectable } from '@nestjs/common';
import { parseCookie } from 'cookie';
import type { CookieOptions, Request, Response } from 'express';
import { Env } from '../platform/config/env.js';

/** Reads, sets and clears the session cookie of a browser. */
@Injectable()
export class SessionCookie {
  readonly name: string;
  private readonly options: CookieOptions;

  constructor(env: Env) {
    this.name = env.sessionCookieName;
    const secure = env.isHttps;
    this.options = { httpOnly: true, sameSite: 'lax', path: '/', secure, encode: (value) => value };
  }

  read(request: Request): string | undefined {
    const header = request.headers.cookie;
    return header === undefined ? undefined : parseCookie(header)[this.name];
  }

  write(response: Response, token: string): void {
    response.cookie(this.name, token, this.options);
  }

  clear(response: Response): void {
    response.clearCookie(this.name, this.options);
  }
}
