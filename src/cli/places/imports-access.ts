import type { INestApplicationContext } from '@nestjs/common';
import type { Caller } from '../../access/actor.js';
import { page } from '../../platform/http/page.js';
import type { RowsQuery, RunsQuery } from '../../import/import.query.js';
import { presentRow, presentRun } from '../../import/import.view.js';
import type { ImportRowPageDto, ImportRunDto, ImportRunPageDto } from '../../import/imports.dto.js';
import { ImportsService } from '../../import/imports.service.js';
import { FailedRows } from '../../import/report/failed-rows.js';
import { RunEvents } from '../../import/report/run-events.js';
import type { ImportRun } from '../../import/runs/import-run.js';

/** What an operator decides about a run. */
export type Decision = 'apply' | 'reject' | 'cancel' | 'revert';

/** The runs of a database, or those of a service. Its errors say what to do. */
export interface ImportsAccess {
  list(query: RunsQuery): Promise<ImportRunPageDto>;
  get(id: string): Promise<ImportRunDto>;
  /** @returns `after` of the next page, where there is one. */
  rows(id: string, query: RowsQuery): Promise<{ found: ImportRowPageDto; next: string | undefined }>;
  /** @param dryRun a revert is planned only. @returns the run concerned. */
  decide(id: string, decision: Decision, dryRun: boolean): Promise<ImportRunDto>;
  /** The run now and after every change, until it ends or waits for an operator. */
  watch(id: string): AsyncGenerator<ImportRunDto>;
  /** The text of `failed.csv`. */
  failed(id: string): AsyncIterable<string>;
}

/** The runs of the database, by the services of the application. */
export class LocalImports implements ImportsAccess {
  private readonly imports: ImportsService;

  constructor(
    private readonly context: INestApplicationContext,
    private readonly caller: Caller,
  ) {
    this.imports = context.get(ImportsService);
  }

  async list(query: RunsQuery): Promise<ImportRunPageDto> {
    const { state: states, dataset } = query;
    const { count, runs } = await this.imports.list({ ...page(query), states, dataset });
    return { Count: count, Results: await Promise.all(runs.map((run) => this.present(run))) };
  }

  async get(id: string): Promise<ImportRunDto> {
    return this.present(await this.imports.get(id));
  }

  async rows(id: string, query: RowsQuery): Promise<{ found: ImportRowPageDto; next: string | undefined }> {
    const place = { ...page(query), ...(query.after !== undefined && { after: Number(query.after) }) };
    const filter = { outcomes: query.outcome, code: query.code, externalIds: query.external_id };
    const { count, rows, next, people } = await this.imports.listRows(id, filter, place);
    return {
      found: { Count: count, Results: rows.map((row) => presentRow(row, people)) },
      next: next?.toString(),
    };
  }

  async decide(id: string, decision: Decision, dryRun: boolean): Promise<ImportRunDto> {
    const run =
      decision === 'revert'
        ? await this.imports.revert(id, this.caller, dryRun)
        : await this.imports[decision](id, this.caller);
    return this.present(run);
  }

  async *watch(id: string): AsyncGenerator<ImportRunDto> {
    for await (const run of this.context.get(RunEvents).watch(id)) yield await this.present(run);
  }

  async *failed(id: string): AsyncGenerator<string> {
    yield* this.context.get(FailedRows).csv(await this.imports.get(id));
  }

  private async present(run: ImportRun): Promise<ImportRunDto> {
    const problems = await this.imports.firstProblems(run.id);
    return presentRun(run, problems, await this.imports.revertOf(run.id));
  }
}
