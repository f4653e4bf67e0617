import { Controller, Get, Headers, Res } from '@nestjs/common';
import { ApiBearerAuth, ApiOperation, ApiProduces, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { timingSafeEqual } from 'node:crypto';
import { Public } from '../../access/decorators.js';
import { Problems } from '../../platform/openapi/docs.js';
import { ProblemError } from '../../platform/common/errors.js';
import { Metrics } from '../../platform/telemetry/metrics.js';
import { sha256 } from '../../platform/common/secrets.js';
import { Env } from '../../platform/config/env.js';

/** For Prometheus, which has neither an API key nor a session, but may have a token. */
@ApiTags('status')
@Controller('metrics')
export class MetricsController {
  constructor(
    private readonly metrics: Metrics,
    private readonly env: Env,
  ) {}

  @Get()
  @ApiOperation({
    summary: 'Metrics in the Prometheus format',
    description: 'If `METRICS_TOKEN` is set, send it as a bearer token. The metrics name no users.',
  })
  @ApiBearerAuth('metrics')
  @ApiProduces('text/plain')
  @ApiResponse({
    status: 200,
    description: 'The metrics.',
    content: { 'text/plain': { schema: { type: 'string', format: 'binary' } } },
  })
  @Problems('unauthenticated')
  @Public()
  async read(
    @Headers('authorization') authorization: string | undefined,
    @Res() response: Response,
  ): Promise<void> {
    this.assertToken(authorization);
    response.setHeader('Content-Type', this.metrics.contentType);
    response.send(await this.metrics.text());
  }

  private assertToken(authorization = ''): void {
    const { METRICS_TOKEN } = this.env;
    if (METRICS_TOKEN === undefined) return;
    const sent = Buffer.from(sha256(authorization.replace(/^Bearer /i, '')));
    if (timingSafeEqual(sent, Buffer.from(sha256(METRICS_TOKEN)))) return;
    throw new ProblemError('unauthenticated', 'Send METRICS_TOKEN as a bearer token.', {
      headers: { 'WWW-Authenticate': 'Bearer realm="rollcall metrics"' },
    });
  }
}
