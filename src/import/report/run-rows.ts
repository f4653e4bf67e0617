import { Injectable } from '@nestjs/common';
import type { Sql } from '../../database/engine/sql.js';
import { type ImportRun, ROW_OUTCOMES, RUNNABLE } from '../runs/import-run.js';
import type { StagedRow } from '../runs/import-row.js';
import {
  BEFORE_ALL,
  ImportReportRepository,
  type Place,
  type RowFilter,
} from './import-report.repository.js';

export type { Place, RowFilter };

export interface RowPage {
  /** Of all pages. */
  count: number;
  rows: StagedRow[];
  /** The last line of the page, where there is another one: `after` of the next. */
  next: number | undefined;
}

/** Lists the rows of runs that are kept. */
@Injectable()
export class RunRows {
  constructor(private readonly report: ImportReportRepository) {}

  /** The first rows with an error or a warning. @param sql the transaction that this is part of, if any. */
  async problems(id: string, limit: number, sql?: Sql): Promise<StagedRow[]> {
    return this.report.problems(id, limit, sql);
  }

  /** A page of rows, in the order of their lines. @param place `after`: the last line of the page before. */
  async page(
    run: ImportRun,
    filter: RowFilter,
    { after = BEFORE_ALL, offset, limit }: Partial<Place> & Omit<Place, 'after'>,
  ): Promise<RowPage> {
    const found = await this.report.list(run.id, filter, { after, offset, limit: limit + 1 });
    const rows = found.slice(0, limit);
    const count = await this.count(run, filter);
    return { count, rows, next: found.length > limit ? rows.at(-1)?.line : undefined };
  }

  /** Rows of an outcome are counted in the run, so that a page does not cost the number of all. */
  private async count(run: ImportRun, filter: RowFilter): Promise<number> {
    const { counts, missing } = run;
    if (filter.code !== undefined || counts === null || RUNNABLE.includes(run.state)) {
      return this.report.count(run.id, filter);
    }
    const wanted = new Set(filter.outcomes ?? [...ROW_OUTCOMES, 'missing']);
    const warned = { outcomes: ['unchanged'], code: undefined };
    const kept = wanted.has('unchanged') ? await this.report.count(run.id, warned) : 0;
    const known: Readonly<Record<string, number>> = { ...counts, unchanged: kept, missing: missing.reported };
    return [...wanted].reduce((sum, outcome) => sum + (known[outcome] ?? 0), 0);
  }
}
