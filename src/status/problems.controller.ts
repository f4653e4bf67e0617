import { Controller, Get, Header, Param } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { Public } from '../access/decorators.js';
import { CATALOGUE, ProblemError, isErrorCode } from '../common/errors.js';

/** The pages that the `type` of a problem links to. */
@ApiExcludeController()
@Controller('problems')
export class ProblemsController {
  @Get(':code')
  @Public()
  @Header('Content-Type', 'text/html; charset=utf-8')
  @Header('Content-Security-Policy', "default-src 'none'; style-src 'unsafe-inline'")
  page(@Param('code') code: string): string {
    if (!isErrorCode(code)) throw new ProblemError('not_found', 'There is no such error.');
    const { status, title, remedy } = CATALOGUE[code];
    return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${title}</title>
<style>body{font:1.1rem/1.6 system-ui;max-width:40rem;margin:4rem auto;padding:0 1rem}</style></head>
<body><h1>${title}</h1><p><code>${code}</code> · HTTP status ${status}</p><p>${remedy.replaceAll('<', '&lt;')}</p></body></html>
`;
  }
}
