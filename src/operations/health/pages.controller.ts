import { Controller, Get, Header, Param, Req, Res, applyDecorators } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { Public } from '../../access/decorators.js';
import { CATALOGUE, ProblemError, isErrorCode } from '../../platform/common/errors.js';
import { VERSION } from '../../platform/common/version.js';
import { Env } from '../../platform/config/env.js';
import { Html, PAGE_POLICY, renderPage, toHtml, renderInlineCode } from '../../platform/http/html-page.js';
import { GUIDES, loadGuide } from './guides.js';

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
  showFrontPage(@Req() request: Request, @Res() response: Response): void {
    response.vary('Accept');
    if (this.env.CONSOLE_ENABLED && request.accepts('application/json', 'text/html') === 'text/html')
      response.redirect(302, CONSOLE);
    else response.type('html').set('Content-Security-Policy', PAGE_POLICY).send(this.renderFrontPage());
  }

  /** Returns the front page, which lists the guides. Unlike `/`, this path never redirects browsers. */
  @Page('guides')
  showGuides(): string {
    return this.renderFrontPage();
  }

  @Page('guides/:name')
  async showGuide(@Param('name') name: string): Promise<string> {
    const guide = await loadGuide(name);
    if (!guide) throw new ProblemError('not_found', 'Unknown guide. The page /guides lists all guides.');
    return renderPage(guide.title, new Html(guide.body));
  }

  /** Returns the page of an error code, to which the `type` of a problem links. */
  @Page('problems/:code')
  showProblem(@Param('code') code: string): string {
    if (!isErrorCode(code)) throw new ProblemError('not_found', 'Unknown error code.');
    const { status, title, remedy } = CATALOGUE[code];
    return renderPage(
      title,
      toHtml`<h1>${title}</h1>
        <p><code>${code}</code> · HTTP status ${status}</p>
        <p>${renderInlineCode(remedy)}</p>`,
    );
  }

  private renderFrontPage(): string {
    const items = Object.entries(GUIDES).map(
      ([name, about]) => toHtml`<li><a href="/guides/${name}">${name}</a>: ${about}</li>\n`,
    );
    const link = toHtml`<li><a href="${CONSOLE}">Console</a> for operators</li>`;
    return renderPage(
      'Rollcall',
      toHtml`<h1>Rollcall ${VERSION}</h1>
<p>User management for intranets, synchronised with an identity source.</p>
<ul>
${this.env.CONSOLE_ENABLED ? link : ''}
<li><a href="/docs">Swagger UI</a>: every endpoint, with examples to try out</li>
<li><a href="/docs/openapi.json">OpenAPI file</a> for client developers</li>
<li><a href="/api/0.3/status">Status</a> of the service</li>
</ul>
<h2>Guides</h2>
<ul>
${items}</ul>`,
    );
  }
}
