import { Injectable } from '@nestjs/common';
import { type DbTime, now, secondsFrom } from '../../platform/common/time.js';
import { Env } from '../../platform/config/env.js';
import { ImportRunsRepository } from './import-runs.repository.js';

/** Whether imports complete as often as IMPORT_OVERDUE_HOURS asks for. */
@Injectable()
export class OverdueImports {
  constructor(
    private readonly env: Env,
    private readonly runs: ImportRunsRepository,
  ) {}

  /** Returns whether no import has completed within IMPORT_OVERDUE_HOURS; undefined when that is not set. */
  async isOverdue(): Promise<boolean | undefined> {
    return this.env.IMPORT_OVERDUE_HOURS === undefined
      ? undefined
      : this.isOverdueSince(await this.lastCompleted());
  }

  /** Returns whether imports are overdue, given when the last import completed. False where IMPORT_OVERDUE_HOURS is not set. */
  isOverdueSince(last: DbTime | null): boolean {
    const hours = this.env.IMPORT_OVERDUE_HOURS;
    return hours !== undefined && (last === null || last < secondsFrom(now(), -hours * 60 * 60));
  }

  /** When the last import completed. */
  async lastCompleted(): Promise<DbTime | null> {
    return this.runs.lastFinished(['completed', 'completed_with_errors']);
  }
}
