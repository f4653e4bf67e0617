import { Injectable } from '@nestjs/common';
import { moved } from '../../users/change/conflicts.js';
import { UserDirectory } from '../../users/directory/user-directory.service.js';
import type { PlanBuilder } from './plan-builder.js';
import type { JudgedRow } from './row-judge.js';

/** Who holds now what rows take: users without external id stand in the way, others may give it up in the same file. */
@Injectable()
export class OwnerCheck {
  constructor(private readonly directory: UserDirectory) {}

  /** Names, addresses and authnames that rows take and somebody else holds now. */
  async meet(judged: readonly JudgedRow[], builder: PlanBuilder): Promise<void> {
    const takers = judged.flatMap(({ row, before, after }) =>
      after && row.outcome !== 'unchanged'
        ? [{ row, before, taken: moved({ before, after, ifVersions: undefined, error: undefined }).taken }]
        : [],
    );
    const owners = await this.directory.owners(
      takers.flatMap(({ taken }) => taken.map(({ identifier }) => identifier)),
    );
    for (const { row, before, taken } of takers) {
      for (const { field, identifier } of taken) {
        const owner = owners.get(identifier);
        if (!owner || owner.uuid === row.userUuid) continue;
        if (!before && owner.external_id === '') {
          builder.state.fail(row.line, unlinked(field, owner.uuid));
        } else {
          if (!before) builder.tally.addClash();
          builder.state.needs.push({ line: row.line, field, identifier, owner: owner.uuid });
        }
      }
    }
  }
}

function unlinked(field: string, uuid: string) {
  const message = `belongs to user ${uuid}, who has no external id; adopt=email or adopt=username takes that user over`;
  return { field, code: 'unlinked_conflict', message, uuid };
}
