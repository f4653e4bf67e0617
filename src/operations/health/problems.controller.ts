import { Controller, Get, Header, Param } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { Public } from '../../access/decorators.js';
import { CATALOGUE, ProblemError, isErrorCode } from '../../platform/common/errors.js';
import { PAGE_POLICY, markup, htmlPage, prose } from '../../platform/http/html-page.js';

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
      markup`<h1>${title}</h1>
        <p><code>${code}</code> · HTTP status ${status}</p>
        <p>${prose(remedy)}</p>`,
    );
  }
}
