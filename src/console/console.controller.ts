import { Controller, Get, Param, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { Public } from '../access/decorators.js';
import { SessionCookie } from '../sessions/session-cookie.js';
import { SessionsService } from '../sessions/sessions.service.js';
import { ProblemError } from '../platform/common/errors.js';
import { Env } from '../platform/config/env.js';
import { applyETag } from '../platform/http/entity-tags.js';
import { Accepts } from '../platform/http/input.guard.js';
import { readConsoleFile } from './console-files.js';

/** `Cache-Control` for files that never change. One year is the longest time that caches honour. */
const ONE_YEAR = 'public, max-age=31536000, immutable';

/**
 * Serves the files of the console. Other paths below `/console` return the HTML page, whose script selects a view by
 * the path.
 */
@ApiExcludeController()
@Controller('console')
export class ConsoleController {
  constructor(
    private readonly cookie: SessionCookie,
    private readonly sessions: SessionsService,
    private readonly env: Env,
  ) {}

  /**
   * Returns whether the browser has a session, so that the console of a signed-out browser sends no failing request.
   * Also returns the settings that the texts of the console contain.
   */
  @Get('session')
  @Public()
  async getStart(@Req() request: Request, @Res({ passthrough: true }) response: Response) {
    response.setHeader('Cache-Control', 'no-store');
    const token = this.cookie.read(request);
    const { PASSWORD_MIN_LENGTH: password_min_length, SCIM_DELETED_DAYS: deleted_days } = this.env;
    const has_session = token !== undefined && (await this.sessions.find(token)) !== undefined;
    return { has_session, password_min_length, deleted_days };
  }

  @Get(['', '*path'])
  @Public()
  @Accepts({ anyQuery: true })
  async serveFile(
    @Param('path') path: string | string[] = '',
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const encoding = request.acceptsEncodings(['br', 'gzip', 'identity']);
    const file = await readConsoleFile([path].flat().join('/'), encoding || 'identity');
    if (!file) throw new ProblemError('not_found', 'This file of the console does not exist.');
    response.vary('Accept-Encoding');
    response.setHeader('Cache-Control', file.isImmutable ? ONE_YEAR : 'no-cache');
    response.type(file.type);
    if (file.encoding) response.setHeader('Content-Encoding', file.encoding);
    response.send(applyETag(response, file.etag) ? file.bytes : undefined);
  }
}
