import { Controller, Get, Header, Param, Req, Res, applyDecorators } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { Public } from '../../access/decorators.js';
import { CATALOGUE, ProblemError, isErrorCode } from '../../platform/common/errors.js';
import { VERSION } from '../../platform/common/version.js';
import { Env } from '../../platform/config/env.js';
import { PAGE_POLICY } from '../../platform/http/html-page.js';
import { GUIDES, renderGuide, renderMarkdown } from './guides.js';

const CONSOLE = '/console';

const Page = (path: string) =>
  applyDecorators(
    Get(path),
    Public(),
    Header('Content-Type', 'text/html; charset=utf-8'),
    Header('Content-Security-Policy', PAGE_POLICY),
  );

/** HTML pages: the front page, the guides, and a page for each error code. */
@ApiExcludeController()
@Controller()
export class PagesController {
  constructor(private readonly env: Env) {}

  /** Redirects browsers to the console if it is enabled. All other requests get the front page. */
  @Get()
  @Public()
  async showFrontPage(@Req() request: Request, @Res() response: Response): Promise<void> {
    response.vary('Accept');
    if (this.env.CONSOLE_ENABLED && request.accepts('application/json', 'text/html') === 'text/html')
      response.redirect(302, CONSOLE);
    else
      response
        .type('html')
        .set('Content-Security-Policy', PAGE_POLICY)
        .send(await this.showGuides());
  }

  /** Returns the front page, which lists the guides. Unlike `/`, this path never redirects browsers. */
  @Page('guides')
  showGuides(): Promise<string> {
    const guides = Object.entries(GUIDES).map(([name, about]) => `- [${name}](/guides/${name}): ${about}`);
    return renderMarkdown(`# Rollcall ${VERSION}

User management for intranets, synchronised with an identity source.

${this.env.CONSOLE_ENABLED ? `- [Console](${CONSOLE}) for operators` : ''}
- [Swagger UI](/docs): every endpoint, with examples to try out
- [OpenAPI file](/docs/openapi.json) for client developers
- [Status](/api/0.3/status) of the service

## Guides

${guides.join('\n')}`);
  }

  @Page('guides/:name')
  async showGuide(@Param('name') name: string): Promise<string> {
    const page = await renderGuide(name);
    if (page === undefined)
      throw new ProblemError('not_found', 'Unknown guide. The page /guides lists all guides.');
    return page;
  }

  /** Returns the page of an error code, to which the `type` of a problem links. */
  @Page('problems/:code')
  showProblem(@Param('code') code: string): Promise<string> {
    if (!isErrorCode(code)) throw new ProblemError('not_found', 'Unknown error code.');
    const { status, title, remedy } = CATALOGUE[code];
    return renderMarkdown(`# ${title}\n\n\`${code}\` · HTTP status ${status}\n\n${remedy}`);
  }
}
