import { Controller, Get } from '@nestjs/common';
import { ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import { Public } from '../../access/decorators.js';
import { Open, Problems } from '../../platform/openapi/docs.js';
import { unavailable } from '../../platform/common/errors.js';
import { Readiness } from './readiness.js';

const UP = {
  type: 'object',
  example: { status: 'ok' },
  required: ['status'],
  properties: { status: { enum: ['ok'] } },
};

/** Probes for orchestrators and load balancers. */
@ApiTags('status')
@Controller('health')
export class HealthController {
  constructor(private readonly readiness: Readiness) {}

  @Get('live')
  @ApiOperation({ summary: 'Is the process alive?', description: 'Restart it when this does not answer.' })
  @ApiResponse({ status: 200, description: 'It is.', schema: UP })
  @Open()
  @Problems()
  @Public()
  live() {
    return { status: 'ok' };
  }

  @Get('ready')
  @ApiOperation({
    summary: 'Does it take requests?',
    description:
      '503 while the database does not answer or takes no changes (`detail` says which), and from SIGTERM on.',
  })
  @ApiResponse({ status: 200, description: 'It does.', schema: UP })
  @Open()
  @Problems()
  @Public()
  async ready() {
    const faults = await this.readiness.findFaults();
    if (faults.length > 0) throw unavailable(`Not ready: ${faults.join(', ')}.`);
    return { status: 'ok' };
  }
}
