import { Controller, Get, Header, HttpCode, Param, Post, Req, Res, applyDecorators } from '@nestjs/common';
import { ApiQuery, ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import type { Actor, Caller } from '../access/actor.js';
import { CurrentCaller, Requires } from '../access/decorators.js';
import { may } from '../access/policy.js';
import { type ErrorCode, ProblemError } from '../platform/common/errors.js';
import { Accepts, CheckedQuery } from '../platform/http/input.guard.js';
import { nextPage, page } from '../platform/http/page.js';
import { streamText } from '../platform/http/stream.js';
import { RunQueue } from './apply/run-queue.service.js';
import { RequestedOptions } from './runs/import-options.js';
import { RevertQuery, RowsQuery, RunsQuery } from './import.query.js';
import { presentRow, presentRun } from './import.view.js';
import type { ImportRowPageDto, ImportRunDto, ImportRunPageDto } from './imports.dto.js';
import {
  DocDecide,
  DocEvents,
  DocFailedCsv,
  DocGet,
  DocList,
  DocRows,
  DocTemplate,
  DocUpload,
} from './imports.docs.js';
import { MAX_FILE_BYTES } from './file/import-store.js';
import { ImportsService } from './imports.service.js';
import { FailedRows } from './report/failed-rows.js';
import { RunEvents } from './report/run-events.js';
import { UsersExport } from './report/users-export.js';
import type { ImportRun } from './runs/import-run.js';

const CSV = 'text/csv; charset=utf-8';

/** A route by which an operator decides on a run. */
const Decision = (action: string, summary: string, description: string, ...codes: ErrorCode[]) =>
  applyDecorators(
    Post(`:import_id/${action}`),
    DocDecide(summary, description, ...codes),
    HttpCode(202),
    Requires('imports.write'),
  );

@ApiTags('imports')
@Controller('imports')
export class ImportsController {
  constructor(
    private readonly imports: ImportsService,
    private readonly queue: RunQueue,
    private readonly failedRows: FailedRows,
    private readonly runEvents: RunEvents,
    private readonly users: UsersExport,
  ) {}

  @Post()
  @DocUpload()
  @HttpCode(202)
  @Requires('imports.write')
  @Accepts({ query: RequestedOptions, file: { type: 'text/csv', maxBytes: MAX_FILE_BYTES } })
  async upload(
    @CurrentCaller() caller: Caller,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<ImportRunDto> {
    return this.accepted(await this.queue.upload(request, caller), caller, response);
  }

  @Get()
  @DocList()
  @Requires('imports.read')
  @Accepts({ query: RunsQuery })
  async list(@CheckedQuery() query: RunsQuery): Promise<ImportRunPageDto> {
    const { count, runs } = await this.imports.list({
      ...page(query),
      states: query.state,
      dataset: query.dataset,
    });
    return { Count: count, Results: await Promise.all(runs.map((run) => this.present(run))) };
  }

  @Get('template.csv')
  @DocTemplate()
  @Header('Content-Type', CSV)
  @Header('Content-Disposition', 'attachment; filename="users.csv"')
  @Requires('imports.read')
  template(): string {
    return this.users.template();
  }

  @Get(':import_id')
  @DocGet()
  @Requires('imports.read')
  async get(@Param('import_id') id: string): Promise<ImportRunDto> {
    return this.present(await this.imports.get(id));
  }

  @Get(':import_id/rows')
  @DocRows()
  @Requires('imports.read')
  @Accepts({ query: RowsQuery })
  async rows(
    @Param('import_id') id: string,
    @CheckedQuery() query: RowsQuery,
    @CurrentCaller() { actor }: Caller,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<ImportRowPageDto> {
    const filter = { outcomes: query.outcome, code: query.code, externalIds: query.external_id };
    if (query.after !== undefined && query.offset > 0) {
      throw new ProblemError('invalid_parameter', 'offset and after exclude each other.');
    }
    const place = { ...page(query), ...(query.after !== undefined && { after: Number(query.after) }) };
    const { count, rows, next, people } = await this.imports.listRows(id, filter, place);
    if (next !== undefined) response.links({ next: nextPage(request, String(next)) });
    const known = may(actor, 'users.read') ? people : new Map<string, never>();
    return { Count: count, Results: rows.map((row) => presentRow(row, known)) };
  }

  @Get(':import_id/failed.csv')
  @DocFailedCsv()
  @Requires('imports.read')
  async failed(@Param('import_id') id: string, @Res() response: Response): Promise<void> {
    const run = await this.imports.get(id);
    response.setHeader('Content-Type', CSV);
    response.setHeader('Content-Disposition', `attachment; filename="failed-${id}.csv"`);
    await streamText(response, this.failedRows.csv(run));
  }

  @Get(':import_id/events')
  @DocEvents()
  @Requires('imports.read')
  async events(
    @Param('import_id') id: string,
    @CurrentCaller() { actor }: Caller,
    @Res() response: Response,
  ): Promise<void> {
    await this.imports.get(id);
    response.setHeader('Content-Type', 'text/event-stream');
    response.setHeader('Cache-Control', 'no-cache');
    await streamText(response, this.eventLines(id, actor, response));
  }

  @Decision(
    'apply',
    'Apply a plan, or approve a parked run',
    'It is planned again first. If the new plan differs, the run ends as `superseded`. A plan that would block your own account ' +
      'is 403 `self_block`. A run whose starter has lost the rights is `cancelled`.',
    'self_block',
  )
  async apply(
    @Param('import_id') id: string,
    @CurrentCaller() caller: Caller,
    @Res({ passthrough: true }) response: Response,
  ): Promise<ImportRunDto> {
    return this.accepted(await this.imports.apply(id, caller), caller, response);
  }

  @Decision(
    'cancel',
    'Stop a run',
    'At its next batch; what is applied stays, and can be undone with `revert`.',
  )
  async cancel(
    @Param('import_id') id: string,
    @CurrentCaller() caller: Caller,
    @Res({ passthrough: true }) response: Response,
  ): Promise<ImportRunDto> {
    return this.accepted(await this.imports.cancel(id, caller), caller, response);
  }

  @Decision('reject', 'Refuse a plan or a parked run', 'Nothing of it is ever written.')
  async reject(
    @Param('import_id') id: string,
    @CurrentCaller() caller: Caller,
    @Res({ passthrough: true }) response: Response,
  ): Promise<ImportRunDto> {
    return this.accepted(await this.imports.reject(id, caller), caller, response);
  }

  @Decision(
    'revert',
    'Undo a run',
    'A new run: restores the values that nobody has changed since, blocks the users that were created, and lists the rest as conflicts.',
  )
  @ApiQuery({ type: RevertQuery })
  @Accepts({ query: RevertQuery })
  async revert(
    @Param('import_id') id: string,
    @CheckedQuery() { dry_run: dryRun }: RevertQuery,
    @CurrentCaller() caller: Caller,
    @Res({ passthrough: true }) response: Response,
  ): Promise<ImportRunDto> {
    return this.accepted(await this.imports.revert(id, caller, dryRun), caller, response);
  }

  /** Presents the run that a request leads to, with its address in `Location`. */
  private accepted(run: ImportRun, caller: Caller, response: Response): Promise<ImportRunDto> {
    const collection = response.req.path.split('/imports', 1)[0] ?? '';
    response.location(`${collection}/imports/${run.id}`);
    return this.present(run, caller);
  }

  private async present(run: ImportRun, caller?: Caller): Promise<ImportRunDto> {
    const sql = caller?.repeatable?.transaction;
    const problems = await this.imports.firstProblems(run.id, sql);
    return presentRun(run, problems, await this.imports.revertOf(run.id, sql));
  }

  private async *eventLines(id: string, actor: Actor, response: Response): AsyncGenerator<string> {
    const gone = new AbortController();
    response.setMaxListeners(20); // a pipeline adds seven; Node.js warns of a leak from 11 on
    response.once('close', () => {
      gone.abort();
    });
    for await (const run of this.runEvents.watchAs(id, actor, gone.signal)) {
      yield `event: progress\ndata: ${JSON.stringify(await this.present(run))}\n\n`;
    }
  }
}
