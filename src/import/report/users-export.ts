import { Injectable } from '@nestjs/common';
import { UserDirectory } from '../../users/search/user-directory.service.js';
import type { User } from '../../users/model/user.js';
import { COLUMNS, cellsOf } from '../file/columns.js';
import { BOM, toCsvLine } from '../../platform/common/csv.js';

/** Export of users as a file in the import format. Importing this file changes nothing. */
@Injectable()
export class UsersExport {
  constructor(private readonly directory: UserDirectory) {}

  buildTemplate(): string {
    return BOM + toCsvLine(COLUMNS.map(({ name }) => name));
  }

  /** Yields the lines of the export, page by page. */
  async *streamLines(pages: AsyncIterable<readonly { user: User }[]>): AsyncGenerator<string> {
    yield this.buildTemplate();
    for await (const page of pages) {
      const users = page.map(({ user }) => user);
      const managers = await this.directory.findExternalIds(
        users.flatMap(({ manager_uuid }) => manager_uuid ?? []),
      );
      yield users.map((user) => toCsvLine(cellsOf(user, toManagerCell(user, managers)))).join('');
    }
  }
}

/**
 * Returns the manager cell of a user: the external id of the manager, or `uuid:` and the UUID. Imports can read both
 * forms.
 */
function toManagerCell({ manager_uuid }: User, managers: ReadonlyMap<string, string>): string {
  if (manager_uuid === null) return '';
  return managers.get(manager_uuid) || `uuid:${manager_uuid}`;
}
