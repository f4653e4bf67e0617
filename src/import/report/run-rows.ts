import { Injectable } from '@nestjs/common';
import { usersNamedBy } from '../../audit/named-change.js';
import type { Sql } from '../../platform/database/engine/sql.js';
import { type ImportRun, ROW_OUTCOMES } from '../runs/import-run.js';
import { RUNNABLE } from '../runs/run-states.js';
import { type StagedRow, BEFORE_ALL } from '../runs/import-row.js';
import { UserDirectory } from '../../users/search/user-directory.service.js';
import type { User } from '../../users/model/user.js';
import { ImportReportRepository, type Place, type RowFilter } from './import-report.repository.js';

export type { Place, RowFilter };

export interface RowPage {
  /** Of all pages. */
  count: number;
  rows: StagedRow[];
  /** The last line of the page, where there is another one: `after` of the next. */
  next: number | undefined;
  /** uuid → user, of the users of these rows and of the managers that they name. */
  people: Map<string, User>;
}

/** Lists the rows of runs that are kept. */
@Injectable()
export class RunRows {
  constructor(
    private readonly report: ImportReportRepository,
    private readonly directory: UserDirectory,
  ) {}

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
    const people = await this.directory.byUuids(rows.flatMap(uuidsOf));
    return { count, rows, next: found.length > limit ? rows.at(-1)?.line : undefined, people };
  }

  /** Rows of an outcome are counted in the run, so that a page does not cost the number of all. */
  private async count(run: ImportRun, filter: RowFilter): Promise<number> {
    const { counts, missing } = run;
    const isNarrow = filter.code !== undefined || filter.externalIds !== undefined;
    if (isNarrow || counts === null || RUNNABLE.includes(run.state)) {
      return this.report.count(run.id, filter);
    }
    const wanted = new Set(filter.outcomes ?? [...ROW_OUTCOMES, 'missing']);
    const warned = { outcomes: ['unchanged'], code: undefined };
    const kept = wanted.has('unchanged') ? await this.report.count(run.id, warned) : 0;
    const known: Readonly<Record<string, number>> = { ...counts, unchanged: kept, missing: missing.reported };
    return [...wanted].reduce((sum, outcome) => sum + (known[outcome] ?? 0), 0);
  }
}

/** The users that a row is about. */
const uuidsOf = ({ userUuid, changes }: StagedRow): string[] => [
  ...(userUuid === null ? [] : [userUuid]),
  ...changes.list.flatMap(usersNamedBy),
];
