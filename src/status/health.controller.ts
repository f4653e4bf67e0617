import { Controller, Get, HttpException } from '@nestjs/common';
import { ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import { HealthCheckService } from '@nestjs/terminus';
import { Public } from '../access/decorators.js';
import { Open, Problems } from '../http/docs.js';
import { unavailable } from '../common/errors.js';
import { Readiness } from './readiness.js';

const UP = {
  type: 'object',
  example: { status: 'ok' },
  required: ['status'],
  properties: { status: { enum: ['ok'] } },
};

/** For whoever keeps the service running: an orchestrator, a load balancer. */
@ApiTags('status')
@Controller('health')
export class HealthController {
  constructor(
    private readonly health: HealthCheckService,
    private readonly readiness: Readiness,
  ) {}

  @Get('live')
  @ApiOperation({ summary: 'Is the process alive?', description: 'Restart it where this does not answer.' })
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
    description: '503 while the database does not answer, and from SIGTERM on.',
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

/** What a health check found down. */
function downIn(error: HttpException): string {
  const { error: down } = error.getResponse() as { error?: object };
  return Object.keys(down ?? {}).join(', ');
}
