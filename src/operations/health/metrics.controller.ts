import { Get, Headers, Res } from '@nestjs/common';
import { ApiBearerAuth } from '@nestjs/swagger';
import type { Response } from 'express';
import { timingSafeEqual } from 'node:crypto';
import { Public } from '../../access/decorators.js';
import { ApiController, DescribeRoute } from '../../platform/openapi/route-docs.js';
import { ProblemError } from '../../platform/common/errors.js';
import { Metrics } from '../../platform/telemetry/metrics.js';
import { sha256 } from '../../platform/common/secrets.js';
import { Env } from '../../platform/config/env.js';

/** Metrics for Prometheus, which authenticates with METRICS_TOKEN rather than an API key or session. */
@ApiController('metrics', 'status')
export class MetricsController {
  constructor(
    private readonly metrics: Metrics,
    private readonly env: Env,
  ) {}

  @Get()
  @DescribeRoute('getMetrics', 'Get metrics in the Prometheus format', {
    description:
      'If `METRICS_TOKEN` is set, send it as a bearer token. The metrics contain no personal data.',
    security: ApiBearerAuth('metrics'),
    answer: {
      description: 'The metrics.',
      content: { 'text/plain': { schema: { type: 'string', format: 'binary' } } },
    },
    errors: ['unauthenticated', 'insufficient_scope', 'network_not_permitted'],
  })
  @Public()
  async getMetrics(
    @Headers('authorization') authorization: string | undefined,
    @Res() response: Response,
  ): Promise<void> {
    this.assertToken(authorization);
    response.setHeader('Content-Type', this.metrics.registry.contentType);
    response.send(await this.metrics.render());
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
