import { Get } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Public } from '../../access/decorators.js';
import { VERSION } from '../../platform/common/version.js';
import { TIME } from '../../platform/openapi/shared-schemas.js';
import { ApiController, DescribeRoute, describeJson } from '../../platform/openapi/route-docs.js';
import { ImportSummary } from '../../import/report/import-summary.service.js';
import { Readiness } from './readiness.js';
import { OVERDUE } from './statistics.view.js';

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
