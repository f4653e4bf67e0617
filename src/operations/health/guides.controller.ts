import { Controller, Get, Header, Param } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { Public } from '../../access/decorators.js';
import { ProblemError } from '../../platform/common/errors.js';
import { Html, PAGE_POLICY, htmlPage, markup } from '../../platform/http/html-page.js';
import { guideOf } from './guides.js';

/** The guides, for who has only the address of the service. */
@ApiExcludeController()
@Controller('guides')
export class GuidesController {
  @Get(':name')
  @Public()
  @Header('Content-Type', 'text/html; charset=utf-8')
  @Header('Content-Security-Policy', PAGE_POLICY)
  async page(@Param('name') name: string): Promise<string> {
    const guide = await guideOf(name);
    if (!guide)
      throw new ProblemError('not_found', 'There is no such guide; the address of the service lists them.');
    return htmlPage(
      guide.title,
      markup`<p><a href="/">Rollcall</a> · <a href="/docs">Swagger UI</a></p>${new Html(guide.body)}`,
    );
  }
}
