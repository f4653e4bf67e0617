import { Inject, Injectable } from '@nestjs/common';
import { KeyFuse } from '../../api-keys/fuse/key-fuse.service.js';
import { DATABASE, type Database } from '../../platform/database/engine/database.js';
import { UserDirectory } from '../../users/search/user-directory.service.js';
import type { Plan } from '../plan/planner.js';
import { ImportRowsRepository } from '../runs/import-rows.repository.js';
import { type Guard, type ImportRun, callerOf } from '../runs/import-run.js';

/**
 * The guard `key_fuse`: a run of a key parks where it would blow the fuse of its key, so that it does not stop half way.
 * It is for reverts too, which have no other guard. Only another credential's approval lets the run go on.
 */
@Injectable()
export class FuseGuard {
  constructor(
    private readonly fuse: KeyFuse,
    private readonly directory: UserDirectory,
    private readonly rows: ImportRowsRepository,
    @Inject(DATABASE) private readonly database: Database,
  ) {}

  /** undefined where the plan blocks nobody, or the fuse of no key counts that. */
  async guard(run: ImportRun, { counts, missing }: Plan): Promise<Guard | undefined> {
    // What is applied of failed rows of a revert blocks users too.
    const ofFailed = run.reverts === null ? 0 : await this.rows.countBlockedByFailed(run.id);
    const blocked = (counts?.blocked ?? 0) + missing.blocked + ofFailed;
    if (blocked === 0) return undefined;
    const load = await this.fuse.loadOf(callerOf(run), this.database, () => this.directory.countActive());
    if (!load) return undefined;
    const value = load.count + blocked;
    return {
      name: 'key_fuse',
      field: null,
      value,
      limit: load.limit,
      hit: value > load.limit,
      examples: [],
      hint: 'The key would block more users than it may within an hour; somebody else has to approve that.',
    };
  }
}
