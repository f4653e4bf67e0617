import { Controller, Get, Header } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { Public } from '../access/decorators.js';
import { VERSION } from '../common/version.js';
import { PAGE_POLICY, htmlPage, markup } from '../http/html-page.js';
import { GUIDES } from './guides.js';

/** The page of who opens the service's address in a browser: what this is, and where to go on. */
@ApiExcludeController()
@Controller()
export class FrontController {
  @Get()
  @Public()
  @Header('Content-Type', 'text/html; charset=utf-8')
  @Header('Content-Security-Policy', PAGE_POLICY)
  page(): string {
    const guides = Object.entries(GUIDES).map(
      ([name, about]) => markup`<li><a href="/guides/${name}">${name}</a>: ${about}</li>\n`,
    );
    return htmlPage(
      'Rollcall',
      markup`<h1>Rollcall ${VERSION}</h1>
<p>The users of an intranet, kept in step with an identity source.</p>
<ul>
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
