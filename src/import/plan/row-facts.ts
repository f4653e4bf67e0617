import { Injectable } from '@nestjs/common';
import { isUuid } from '../../platform/common/uuid.js';
import { UserDirectory } from '../../users/search/user-directory.service.js';
import { exactKey } from '../../users/model/keys.js';
import type { User } from '../../users/model/user.js';
import type { RowKeys } from '../file/file-row.js';
import type { Adopted } from './adoption.js';

/** How a cell names a manager without external id, as the export writes it. */
const BY_UUID = /^uuid:(.*)$/i;

/** An existing user that a cell names as manager. `awaited`: only a row of this file gives the user that ExternalId. */
interface NamedManager {
  uuid: string;
  awaited: boolean;
}

/** What the database says about some rows. */
export interface Facts {
  /** By ExternalId in its key form: the users that rows are about. */
  users: ReadonlyMap<string, User>;
  /** By cell: the managers that exist already. */
  managers: ReadonlyMap<string, NamedManager>;
}

/** Looks up what the rules of rows depend on, one statement for each kind. */
@Injectable()
export class RowFacts {
  constructor(private readonly directory: UserDirectory) {}

  async of(rows: readonly RowKeys[], adopted: Adopted): Promise<Facts> {
    const [users, managers] = await Promise.all([this.users(rows, adopted), this.managers(rows, adopted)]);
    return { users, managers };
  }

  /** The users that rows are about: those with their ExternalIds, and those that rows take over. */
  private async users(rows: readonly RowKeys[], adopted: Adopted): Promise<Map<string, User>> {
    const named = rows.map(({ externalId }) => externalId).filter((id) => id !== '');
    const users = await this.directory.byExternalIds(named);
    const uuids = named.flatMap((id): [string, string][] => {
      const uuid = users.has(exactKey(id)) ? undefined : adopted.get(id);
      return uuid === undefined ? [] : [[exactKey(id), uuid]];
    });
    if (uuids.length === 0) return users;
    const found = await this.directory.byUuids(uuids.map(([, uuid]) => uuid));
    for (const [key, uuid] of uuids) {
      const user = found.get(uuid);
      if (user?.external_id === '') users.set(key, user); // nobody has linked it since
    }
    return users;
  }

  /** Manager cell → manager, of those that exist already. */
  private async managers(rows: readonly RowKeys[], adopted: Adopted): Promise<Map<string, NamedManager>> {
    const cells = [...new Set(rows.flatMap(({ manager }) => manager ?? []))];
    const linked = await this.directory.uuidsByExternalIds(cells);
    const byUuid = new Map(
      cells.flatMap((cell): [string, string][] => {
        const uuid = BY_UUID.exec(cell)?.[1]?.trim().toLowerCase() ?? '';
        return isUuid(uuid) ? [[cell, uuid]] : [];
      }),
    );
    const known = await this.directory.externalIdsOf([...byUuid.values()]);
    const find = (cell: string): NamedManager | undefined => {
      const uuid = linked.get(exactKey(cell));
      if (uuid !== undefined) return { uuid, awaited: false };
      const taken = adopted.get(cell);
      if (taken !== undefined) return { uuid: taken, awaited: true };
      const named = byUuid.get(cell);
      return named !== undefined && known.has(named) ? { uuid: named, awaited: false } : undefined;
    };
    return new Map(
      cells.flatMap((cell): [string, NamedManager][] => {
        const manager = find(cell);
        return manager ? [[cell, manager]] : [];
      }),
    );
  }
}
