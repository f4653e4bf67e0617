import { Get } from '@nestjs/common';
import { Public } from '../../access/decorators.js';
import { ApiController, DescribeRoute } from '../../platform/openapi/route-docs.js';
import { createUnavailableError } from '../../platform/common/errors.js';
import { NOT_READY, Readiness } from './readiness.js';

const UP = {
  type: 'object',
  example: { status: 'ok' },
  required: ['status'],
  properties: { status: { enum: ['ok'] } },
};

/** Probes for orchestrators and load balancers. */
@ApiController('health', 'status')
export class HealthController {
  constructor(private readonly readiness: Readiness) {}

  @Get('live')
  @DescribeRoute('checkLiveness', 'Check that the process is alive', {
    description: 'Restart the process if this request gets no response.',
    answer: { description: 'The process is alive.', schema: UP },
  })
  @Public()
  checkLiveness() {
    return { status: 'ok' };
  }

  @Get('ready')
  @DescribeRoute('checkReadiness', 'Check that the instance accepts requests', {
    description:
      'The response is 503 while a change would fail (`detail` names the reason, such as a read-only database or a full ' +
      'disk), after a damaged page was read, and after SIGTERM.',
    answer: { description: 'The instance accepts requests.', schema: UP },
  })
  @Public()
  async checkReadiness() {
    const reasons = await this.readiness.findReasons();
    const texts = reasons.map((reason) => NOT_READY[reason]);
    if (texts.length > 0) throw createUnavailableError(`Not ready: ${texts.join(', ')}.`);
    return { status: 'ok' };
  }
}
