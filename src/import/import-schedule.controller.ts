import { Get, Post, Req, Res, HttpCode } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { Caller } from '../access/actor.js';
import { CurrentCaller, Requires } from '../access/decorators.js';
import { toIso } from '../platform/common/time.js';
import { replaceHidden } from '../platform/common/text.js';
import { Env } from '../platform/config/env.js';
import { Accepts } from '../platform/http/input.guard.js';
import { ApiController, DescribeRoute, describeJson } from '../platform/openapi/route-docs.js';
import { MULTIPART_CSV } from './import.query.js';
import { presentSummary } from './import.view.js';
import { ImportFileDto } from './imports.dto.js';
import { ImportSummary } from './report/import-summary.service.js';
import { ScheduleRequests } from './schedule/schedule-requests.service.js';
import { ScheduleDto, TakenFilePageDto } from './import-schedule.dto.js';
import { ScheduleService } from './schedule/schedule.service.js';

/** Controller of the import schedule. IMPORT_FOLDER and IMPORT_CRON can only be set by the operator of the machine. */
@ApiController('imports', 'imports')
export class ScheduleController {
  constructor(
    private readonly env: Env,
    private readonly schedule: ScheduleService,
    private readonly requests: ScheduleRequests,
    private readonly summary: ImportSummary,
  ) {}

  @Get('schedule')
  @DescribeRoute('getImportSchedule', 'Get the schedule with its waiting files', {
    description:
      'Lists the files in the drop folder and why each of them waits, and the last run of each data set. `files` shows the folder of the instance that answers.',
    answer: describeJson('The schedule.', ScheduleDto),
  })
  @Requires('imports.read')
  async read(): Promise<ScheduleDto> {
    const { IMPORT_FOLDER, IMPORT_PATTERN, IMPORT_CRON, IMPORT_TIME_ZONE, IMPORT_OVERDUE_HOURS } = this.env;
    const state = await this.schedule.readState();
    const datasets = await this.summary.listDueDatasets();
    return {
      folder: IMPORT_FOLDER ?? null,
      pattern: IMPORT_PATTERN,
      cron: IMPORT_CRON,
      time_zone: IMPORT_TIME_ZONE,
      next_tick: state?.next?.toISOString() ?? null,
      last_tick: state?.last ? toIso(state.last) : null,
      overdue_hours: IMPORT_OVERDUE_HOURS ?? null,
      fault: state?.fault ?? null,
      files: (state?.files ?? []).map(({ file: { name, stats }, reason }) => ({
        name: replaceHidden(name),
        size: stats?.size ?? null,
        modified: stats?.mtime.toISOString() ?? null,
        reason,
      })),
      datasets: datasets.map(({ dataset, last_run, lastCompleted, isOverdue }) => ({
        dataset,
        last_run: presentSummary(last_run),
        last_completed: lastCompleted && toIso(lastCompleted),
        overdue: isOverdue,
      })),
    };
  }

  @Post('scheduled')
  @DescribeRoute('takeScheduledFiles', 'Import the files in the drop folder now', {
    description:
      'Imports the complete files, at most 100, without waiting for the next check of the folder. Files that are still changing stay in the folder.',
    answer: describeJson('The files that were taken, with their runs.', TakenFilePageDto),
    errors: ['wrong_state'],
  })
  @HttpCode(200)
  @Requires('imports.write')
  async takeFiles(@CurrentCaller() caller: Caller): Promise<TakenFilePageDto> {
    const taken = await this.requests.takeFiles(caller);
    const Results = taken.map((file) => ({ ...file, name: replaceHidden(file.name) }));
    return { Count: Results.length, Results };
  }

  @Post('schedule/files')
  @DescribeRoute('addScheduledFile', 'Upload a file into the drop folder', {
    description:
      'The schedule imports the file at its next check of the folder, with the rights of the service. The name must match IMPORT_PATTERN.',
    answer: describeJson('The added file.', ImportFileDto),
    errors: ['wrong_state'],
  })
  @Requires('imports.write')
  @Accepts({ file: MULTIPART_CSV })
  async addFile(
    @CurrentCaller() caller: Caller,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<ImportFileDto> {
    const { name, size, sha256 } = await this.requests.addFile(request, caller);
    response.location(request.path.replace(/\/files$/, ''));
    return { name, size, sha256 };
  }
}
