import { Get, Header, HttpCode, Param, Post, Req, Res, applyDecorators } from '@nestjs/common';
import { getSchemaPath } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import type { Actor, Caller } from '../access/actor.js';
import { CurrentCaller, Requires } from '../access/decorators.js';
import { createScopeError } from '../access/policy.js';
import { type ErrorCode, ProblemError } from '../platform/common/errors.js';
import { Accepts, CheckedQuery } from '../platform/http/input.guard.js';
import { buildNextPageUrl, toPageRange } from '../platform/http/page.js';
import { abortOnDisconnect, streamText } from '../platform/http/stream.js';
import { NEXT_PAGE_LINK } from '../platform/openapi/shared-schemas.js';
import { ApiController, DescribeRoute, describeCsv, describeJson } from '../platform/openapi/route-docs.js';
import { BulkChangeInput } from './runs/bulk-change.input.js';
import { BulkChanges } from './apply/bulk-changes.service.js';
import { isObject } from '../platform/common/json.js';
import { RunQueue } from './apply/run-queue.service.js';
import { RequestedOptions } from './runs/import-options.js';
import { CSV_UPLOAD, RevertQuery, RowsQuery, RunsQuery } from './import.query.js';
import { createRowPresenter } from './import.view.js';
import { ImportRowPageDto, ImportRunDto, ImportRunPageDto } from './imports.dto.js';
import { ImportsService } from './imports.service.js';
import { FailedRows } from './report/failed-rows.js';
import { RunEvents } from './report/run-events.js';
import { getVisibility } from './runs/visible-values.js';
import { UsersExport } from './report/users-export.js';
import { MIN_LINE } from './runs/import-row.js';
import type { ImportRun } from './runs/import-run.js';

const CSV = 'text/csv; charset=utf-8';

const Decision = (action: string, summary: string, description: string, ...codes: ErrorCode[]) =>
  applyDecorators(
    Post(`:import_id/${action}`),
    DescribeRoute(`${action}Import`, summary, {
      description,
      answer: describeJson('The run after the request. For `revert`: the new run.', ImportRunDto),
      errors: ['wrong_state', ...codes],
    }),
    HttpCode(202),
    Requires('imports.write'),
  );

@ApiController('imports', 'imports')
export class ImportsController {
  constructor(
    private readonly imports: ImportsService,
    private readonly queue: RunQueue,
    private readonly bulkChanges: BulkChanges,
    private readonly failedRows: FailedRows,
    private readonly runEvents: RunEvents,
    private readonly users: UsersExport,
  ) {}

  @Post()
  @DescribeRoute('startImport', 'Import a CSV file, or change many users', {
    description:
      'Compares the file with the current users and creates a plan. Then applies the plan, or waits for approval if a guard trips. ' +
      'Use `dry_run=true` to see the plan first. In a `multipart/form-data` request, the options may be form fields. ' +
      'A JSON body changes selected users instead. This bulk change is planned, approved, applied and reverted like a file. ' +
      'It needs the scopes `users:write` and `imports:write`, and its only options are `dry_run` and `allow_privileged`.',
    body: BulkChangeInput,
    examples: {
      block: { where: { role: ['Editor'] }, change: { status: 'Blocked' }, reason: 'The project has ended' },
      roles: { where: { managed_by: 'hr' }, change: { add_roles: ['Previewer'] }, reason: 'New intranet' },
      delete: { where: { status: ['Blocked'] }, change: { delete: true }, reason: 'Clean up' },
    },
    answer: describeJson('The accepted run.', ImportRunDto),
    errors: ['reauthentication_required', 'validation_failed', 'wrong_state'],
  })
  @HttpCode(202)
  @Requires('imports.write')
  @Accepts({ query: RequestedOptions, file: CSV_UPLOAD, body: true })
  async upload(
    @CurrentCaller() caller: Caller,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<ImportRunDto> {
    const body: unknown = request.body;
    const run = isObject(body)
      ? await this.bulkChanges.start({ ...request.query, ...body }, caller)
      : await this.queue.upload(request, caller);
    return this.presentAccepted(run, caller, response);
  }

  @Get()
  @DescribeRoute('listImports', 'List imports, newest first', {
    description: 'The `problems` of each run contain the errors and warnings of at most 50 rows.',
    answer: describeJson('A page of runs.', ImportRunPageDto),
  })
  @Requires('imports.read')
  @Accepts({ query: RunsQuery })
  async list(
    @CheckedQuery() query: RunsQuery,
    @CurrentCaller() { actor }: Caller,
  ): Promise<ImportRunPageDto> {
    const { count, runs } = await this.imports.list(query, toPageRange(query));
    return { Count: count, Results: await Promise.all(runs.map((run) => this.imports.present(run, actor))) };
  }

  @Get('template.csv')
  @DescribeRoute('downloadImportTemplate', 'Download an empty file with all columns', {
    description: 'The file contains only the header row. Add one row per user.',
    answer: describeCsv('The CSV file with the header row.'),
  })
  @Header('Content-Type', CSV)
  @Header('Content-Disposition', 'attachment; filename="users.csv"')
  @Requires('imports.read')
  downloadTemplate(): string {
    return this.users.buildTemplate();
  }

  @Get(':import_id')
  @DescribeRoute('getImport', 'Get an import: state, progress, counts and guards', {
    description:
      'Returns the run in the same format as the events of `watchImport`. Without `users:read`, the examples of guards have no ' +
      'values, and the problems, `where`, `change` and `reason` of a run that another caller started are hidden.',
    answer: describeJson('The run.', ImportRunDto),
  })
  @Requires('imports.read')
  async get(@Param('import_id') id: string, @CurrentCaller() { actor }: Caller): Promise<ImportRunDto> {
    return this.imports.present(await this.imports.get(id), actor);
  }

  @Get(':import_id/rows')
  @DescribeRoute('listImportRows', 'List the rows of an import with their outcomes', {
    description:
      'Unchanged rows are counted in the run, but are listed only if they have a warning. If the outcome of a row is not ' +
      '`error`, its `errors` are warnings. Without `users:read`, a caller sees only the new values of files ' +
      'that it sent. In other runs, it sees only lines and codes, and cannot filter by `external_id`. ' +
      'The `Link: rel="next"` header contains the URL of the next page.',
    answer: describeJson('A page of rows.', ImportRowPageDto, NEXT_PAGE_LINK),
  })
  @Requires('imports.read')
  @Accepts({ query: RowsQuery })
  async listRows(
    @Param('import_id') id: string,
    @CheckedQuery() query: RowsQuery,
    @CurrentCaller() { actor }: Caller,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<ImportRowPageDto> {
    if (query.after !== undefined && query.offset > 0) {
      throw new ProblemError('invalid_parameter', 'Send either offset or after. They cannot be combined.');
    }
    const place = { ...toPageRange(query), after: Number(query.after ?? MIN_LINE) };
    const found = await this.imports.listRows(id, query, place, actor);
    const { run, count, rows, next, people, visibility } = found;
    if (next !== undefined) response.links({ next: buildNextPageUrl(request, String(next)) });
    return { Count: count, Results: rows.map(createRowPresenter(run, people, visibility)) };
  }

  @Get(':import_id/failed.csv')
  @DescribeRoute('downloadFailedRows', 'Download the failed rows as a file', {
    description:
      'Contains the original columns and `_run`, `_line`, `_code`, `_message`. Correct the rows and upload the file, with the same ' +
      'profile or none, to complete the import. No user counts as missing from this file. Without `users:read`, a caller can ' +
      'download only the rows of a file that it sent.',
    answer: describeCsv('The failed rows.'),
    errors: ['file_lost'],
  })
  @Requires('imports.read')
  async downloadFailedRows(
    @Param('import_id') id: string,
    @CurrentCaller() { actor }: Caller,
    @Res() response: Response,
  ): Promise<void> {
    const run = await this.imports.get(id);
    const visibility = getVisibility(actor, run);
    if (visibility === 'none') throw createScopeError('users:read');
    response.setHeader('Content-Type', CSV);
    response.setHeader('Content-Disposition', `attachment; filename="failed-${id}.csv"`);
    await streamText(response, this.failedRows.streamCsv(run, visibility));
  }

  @Get(':import_id/events')
  @DescribeRoute('watchImport', 'Watch the progress as server-sent events', {
    description:
      'Sends a `progress` event with the run immediately and after every change. The stream ends when the run ends or waits for a decision.',
    answer: {
      description:
        'Events with `event: progress`, and one line of JSON in `data:`. The schema describes this JSON.',
      content: { 'text/event-stream': { schema: { $ref: getSchemaPath(ImportRunDto) } } },
    },
  })
  @Requires('imports.read')
  async watch(
    @Param('import_id') id: string,
    @CurrentCaller() { actor }: Caller,
    @Res() response: Response,
  ): Promise<void> {
    await this.imports.get(id);
    response.setHeader('Content-Type', 'text/event-stream');
    response.setHeader('Cache-Control', 'no-cache');
    await streamText(response, this.streamEvents(id, actor, response));
  }

  @Decision(
    'apply',
    'Apply a plan, or approve a run awaiting approval',
    'Creates a new plan first. If it differs from the current plan, the run ends as `superseded`. If the plan would block your own ' +
      'account, the request fails with 403 `self_block`. The run ends as `cancelled` if the user or API key that started it ' +
      'no longer has the required rights.',
    'self_block',
    'reauthentication_required',
  )
  async apply(
    @Param('import_id') id: string,
    @CurrentCaller() caller: Caller,
    @Res({ passthrough: true }) response: Response,
  ): Promise<ImportRunDto> {
    return this.presentAccepted(await this.imports.apply(id, caller), caller, response);
  }

  @Decision(
    'cancel',
    'Stop a run',
    'Stops the run before its next batch. Changes that are already applied stay, and `revert` can undo them.',
  )
  async cancel(
    @Param('import_id') id: string,
    @CurrentCaller() caller: Caller,
    @Res({ passthrough: true }) response: Response,
  ): Promise<ImportRunDto> {
    return this.presentAccepted(await this.imports.recordDecision(id, caller, 'cancel'), caller, response);
  }

  @Decision('reject', 'Reject a plan or run awaiting approval', 'Ends the run without applying its changes.')
  async reject(
    @Param('import_id') id: string,
    @CurrentCaller() caller: Caller,
    @Res({ passthrough: true }) response: Response,
  ): Promise<ImportRunDto> {
    return this.presentAccepted(await this.imports.recordDecision(id, caller, 'reject'), caller, response);
  }

  @Decision(
    'revert',
    'Undo a run',
    'Creates a new run. The new run restores values that have not changed since the original run, blocks users whom the original run created, and reports all other changes as conflicts.',
    'reauthentication_required',
  )
  @Accepts({ query: RevertQuery })
  async revert(
    @Param('import_id') id: string,
    @CheckedQuery() { dry_run: dryRun }: RevertQuery,
    @CurrentCaller() caller: Caller,
    @Res({ passthrough: true }) response: Response,
  ): Promise<ImportRunDto> {
    return this.presentAccepted(await this.imports.revert(id, caller, dryRun), caller, response);
  }

  private presentAccepted(run: ImportRun, caller: Caller, response: Response): Promise<ImportRunDto> {
    const collection = response.req.path.split('/imports', 1)[0] ?? '';
    response.location(`${collection}/imports/${run.id}`);
    return this.imports.present(run, caller.actor, caller.repeatable?.transaction);
  }

  private async *streamEvents(id: string, actor: Actor, response: Response): AsyncGenerator<string> {
    // This response needs more than ten listeners, which Node.js would report as a leak.
    response.setMaxListeners(20);
    for await (const run of this.runEvents.watchWhileAuthorized(id, actor, abortOnDisconnect(response))) {
      yield `event: progress\ndata: ${JSON.stringify(await this.imports.present(run, actor))}\n\n`;
    }
  }
}
