import { Get } from '@nestjs/common';
import { Public } from '../../access/decorators.js';
import { ApiController, Doc } from '../../platform/openapi/route-docs.js';
import { unavailable } from '../../platform/common/errors.js';
import { Readiness } from './readiness.js';

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
  @Doc('checkLiveness', 'Is the process alive?', {
    description: 'Restart it when this does not answer.',
    answer: { description: 'It is.', schema: UP },
  })
  @Public()
  live() {
    return { status: 'ok' };
  }

  @Get('ready')
  @Doc('checkReadiness', 'Does it take requests?', {
    description:
      '503 while the database does not answer or takes no changes (`detail` says which), and from SIGTERM on.',
    answer: { description: 'It does.', schema: UP },
  })
  @Public()
  async ready() {
    const faults = await this.readiness.findFaults();
    if (faults.length > 0) throw unavailable(`Not ready: ${faults.join(', ')}.`);
    return { status: 'ok' };
  }
}
