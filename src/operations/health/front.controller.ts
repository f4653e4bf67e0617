import { Controller, Get, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { Public } from '../../access/decorators.js';
import { VERSION } from '../../platform/common/version.js';
import { Env } from '../../platform/config/env.js';
import { PAGE_POLICY, htmlPage, markup } from '../../platform/http/html-page.js';
import { asksForPage } from '../../platform/http/error.filter.js';
import { GUIDES } from './guides.js';

const CONSOLE = '/console';

/** The service's address: it leads a browser to the console. Without one, and for programs, it says what this is and where to go on. */
@ApiExcludeController()
@Controller()
export class FrontController {
  constructor(private readonly env: Env) {}

  @Get()
  @Public()
  front(@Req() request: Request, @Res() response: Response): void {
    response.vary('Accept');
    if (this.env.CONSOLE_ENABLED && asksForPage(request)) response.redirect(302, CONSOLE);
    else this.send(response);
  }

  /** The same page, also for browsers. */
  @Get('guides')
  @Public()
  guides(@Res() response: Response): void {
    this.send(response);
  }

  private send(response: Response): void {
    response.type('html').set('Content-Security-Policy', PAGE_POLICY).send(this.page());
  }

  private page(): string {
    const guides = Object.entries(GUIDES).map(
      ([name, about]) => markup`<li><a href="/guides/${name}">${name}</a>: ${about}</li>\n`,
    );
    const link = markup`<li><a href="${CONSOLE}">Console</a>, for operators</li>`;
    return htmlPage(
      'Rollcall',
      markup`<h1>Rollcall ${VERSION}</h1>
<p>The users of an intranet, kept in step with an identity source.</p>
<ul>
${this.env.CONSOLE_ENABLED ? link : ''}
<li><a href="/docs">Swagger UI</a>: every endpoint, with examples to try</li>
<li><a href="/docs/openapi.json">OpenAPI file</a>, for clients</li>
<li><a href="/api/0.3/status">Status</a> of the service</li>
</ul>
<h2>Guides</h2>
<ul>
${guides}</ul>`,
    );
  }
}
