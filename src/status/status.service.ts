import { Inject, Injectable } from '@nestjs/common';
import { unavailable } from '../common/errors.js';
import { DATABASE, type Database } from '../database/engine/database.js';

@Injectable()
export class StatusService {
  constructor(@Inject(DATABASE) private readonly database: Database) {}

  /** @throws ProblemError `unavailable` when the database does not answer, for whatever reason. */
  async assertDatabase(): Promise<void> {
    try {
      await this.database.query('SELECT value FROM user_counters LIMIT 1');
    } catch {
      throw unavailable('The database does not answer.');
    }
  }
}
