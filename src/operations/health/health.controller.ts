import { Get } from '@nestjs/common';
import { Public } from '../../access/decorators.js';
import { ApiController, DescribeRoute, describeJson } from '../../platform/openapi/route-docs.js';
import { createUnavailableError } from '../../platform/common/errors.js';
import { NOT_READY, Readiness } from './readiness.js';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { VERSION } from '../../platform/common/version.js';
import { TIME } from '../../platform/openapi/shared-schemas.js';
import { ImportSummary } from '../../import/report/import-summary.service.js';
import { OVERDUE } from './statistics.view.js';

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

class StatusDto {
  @ApiProperty({ enum: ['OK'] }) status!: string;
  @ApiProperty({ maxLength: 64, example: '1.0.0', description: 'Release of the service, not of the API.' })
  version!: string;
  @ApiProperty({ type: 'integer', description: 'Time in seconds since 1970.', example: 1769847330 })
  timestamp!: number;
  @ApiPropertyOptional(OVERDUE) import_overdue?: boolean;
  @ApiProperty(TIME) datetime!: string;
}

@ApiController('status', 'status')
export class StatusController {
  constructor(
    private readonly readiness: Readiness,
    private readonly imports: ImportSummary,
  ) {}

  @Get()
  @DescribeRoute('getStatus', 'Get the status of the service', {
    description: 'The response is 503 if the database does not answer.',
    answer: describeJson('The service is up.', StatusDto),
  })
  @Public()
  async getStatus(): Promise<StatusDto> {
    await this.readiness.assertDatabaseAnswers();
    const now = new Date();
    const overdue = (await this.imports.readOverdue())?.isOverdue;
    return {
      status: 'OK',
      version: VERSION,
      timestamp: Math.floor(now.getTime() / 1000),
      datetime: now.toISOString(),
      ...(overdue !== undefined && { import_overdue: overdue }),
    };
  }
}
