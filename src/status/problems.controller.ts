import { Controller, Get, Header, Param } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { Public } from '../access/decorators.js';
import { CATALOGUE, ProblemError, isErrorCode } from '../common/errors.js';
import { PAGE_POLICY, html, htmlPage } from '../http/html-page.js';

/** The pages that the `type` of a problem links to. */
@ApiExcludeController()
@Controller('problems')
export class ProblemsController {
  @Get(':code')
  @Public()
  @Header('Content-Type', 'text/html; charset=utf-8')
  @Header('Content-Security-Policy', PAGE_POLICY)
  page(@Param('code') code: string): string {
    if (!isErrorCode(code)) throw new ProblemError('not_found', 'There is no such error.');
    const { status, title, remedy } = CATALOGUE[code];
    return htmlPage(
      title,
      html`<h1>${title}</h1>
        <p><code>${code}</code> · HTTP status ${status}</p>
        <p>${remedy}</p>`,
    );
  }
}
