import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { ProblemError } from '../common/errors.js';
import { Env } from '../config/env.js';

const SAFE = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Keeps other sites from using a visitor's cookie (OWASP CSRF Prevention, "verifying origin"). Browsers tell the
 * origin of every unsafe request; clients that are no browsers send neither header and are let through.
 */
@Injectable()
export class CrossSite {
  private readonly origin: string;

  constructor(env: Env) {
    this.origin = new URL(env.baseUrl).origin;
  }

  /** @throws ProblemError `cross_site` for an unsafe method from another origin. */
  assertSameSite(request: Request): void {
    if (SAFE.has(request.method)) return;
    const { origin, host, 'sec-fetch-site': site } = request.headers;
    const foreign = origin !== undefined && origin !== this.origin && hostOf(origin) !== host;
    if (foreign || site === 'cross-site') {
      throw new ProblemError('cross_site', 'A session may not be used from a page of another site.');
    }
  }
}

function hostOf(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined;
}
