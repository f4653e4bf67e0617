import { Controller, Get, HttpException } from '@nestjs/common';
import { ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import { HealthCheckService } from '@nestjs/terminus';
import { Public } from '../../access/decorators.js';
import { Open, Problems } from '../../platform/openapi/docs.js';
import { unavailable } from '../../platform/common/errors.js';
import { isObject } from '../../platform/common/json.js';
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
  constructor(
    private readonly health: HealthCheckService,
    private readonly readiness: Readiness,
  ) {}

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
    try {
      const { status } = await this.health.check([
        () => this.readiness.process(),
        () => this.readiness.database(),
      ]);
      return { status };
    } catch (error) {
      if (error instanceof HttpException) throw unavailable(`Not ready: ${downIn(error)}.`);
      throw error;
    }
  }
}

/** What is not ready, and why: `database takes no changes`. */
function downIn(error: HttpException): string {
  const body = error.getResponse();
  const down = isObject(body) && isObject(body['error']) ? body['error'] : {};
  return Object.entries(down)
    .map(([name, check]) => `${name} ${isObject(check) ? String(check['message']) : 'fails'}`)
    .join(', ');
}
