import { Injectable } from '@nestjs/common';
import { isUuid } from '../../platform/common/uuid.js';
import { UserDirectory } from '../../users/search/user-directory.service.js';
import { toExactKey, toLoginIdentifier, toLoginKey } from '../../users/model/comparison-keys.js';
import type { User } from '../../users/model/user.js';
import { ManagerKeys } from './manager-keys.js';
import { type RowKeys, type FileRow, readKeys, readRow } from '../file/file-row.js';
import { RunFiles } from '../file/run-files.js';
import type { CsvRecord } from '../file/record-parser.js';
import { type ImportRun, userScopeOf } from '../runs/import-run.js';
import type { Owner } from '../../users/set-rules/identifier-changes.js';
import { TextNumbers } from '../../users/set-rules/number-collections.js';
import { canManage } from './row-rules.js';
import { ROWS_AT_ONCE } from './plan-builder.js';

/** Maps the ExternalId of a row to the UUID of the unlinked user that the row adopts. */
export class Adoptions {
  private readonly externalIds = new TextNumbers();
  private readonly uuids: string[] = [];
  /** UUIDs of users whom `adopt_rows` confirms. */
  readonly confirmed = new Set<string>();

  get(externalId: string): string | undefined {
    return this.uuids[this.externalIds.findNumber(toExactKey(externalId))];
  }

  confirm(externalId: string, uuid: string): void {
    this.add(externalId, uuid);
    if (this.get(externalId) === uuid) this.confirmed.add(uuid);
  }

  /** Records the user whom the first row with an ExternalId adopts. Ignores later rows with this ExternalId. */
  add(externalId: string, uuid: string): void {
    this.uuids[this.externalIds.assignNumber(toExactKey(externalId))] ??= uuid;
  }
}

const isUnlinked = ({ external_id: id }: Owner): boolean => id === '';

/** Matches a manager cell that contains a UUID, as in exports. */
const UUID_CELL = /^uuid:(.*)$/i;

/** Existing user whom a manager cell names. `isAdopted` is true if a row of this file adopts the user. */
interface NamedManager {
  uuid: string;
  isAdopted: boolean;
}

export interface RowUsers {
  /** Maps the comparison key of an ExternalId to the user of the row. */
  users: ReadonlyMap<string, User>;
  /** Maps the comparison key of an ExternalId to the deleted user with this ExternalId (`deleted_elsewhere`). */
  deleted: ReadonlyMap<string, User>;
  /** Maps the text of a manager cell to the existing manager. */
  managers: ReadonlyMap<string, NamedManager>;
  /** Maps the text of a manager cell to the text that identifies the manager without `manager_key`. */
  managerTexts: ReadonlyMap<string, string>;
}

/** Facts of a file that must be known before its rows are planned. */
export interface FileFacts {
  adopted?: Adoptions | undefined;
  managerKeys?: ManagerKeys | undefined;
}

/** Text of a manager cell that names no user. */
const NO_MANAGER = 'uuid:';

/** Finds the existing users and managers of many rows at once. */
@Injectable()
export class RowUserLookup {
  constructor(
    private readonly files: RunFiles,
    private readonly directory: UserDirectory,
  ) {}

  /**
   * Reads a file ahead, because a later row may adopt or name the manager of an earlier row. Finds the users whom the
   * rows adopt (options `adopt` and `adopt_rows`) and the cells of `manager_key`.
   * @param report receives the number of bytes that were read so far.
   * @throws FileError if the whole file is rejected.
   */
  async readAhead(run: ImportRun, report: (bytes: number) => Promise<void>): Promise<FileFacts> {
    const { blank_cells: blankCells, adopt, adopt_rows: adoptRows } = run.options;
    const managerKeys = ManagerKeys.create(run.profile);
    const adopted = adopt === 'none' && !adoptRows ? undefined : new Adoptions();
    if (!adopted && !managerKeys) return {};
    const confirmedLines = new Set(adoptRows);
    const scope = userScopeOf(run);
    const file = await this.files.open(run);
    const { reader, header } = file;
    for await (const records of file.readRecords(ROWS_AT_ONCE)) {
      const fit = records.filter(({ expectedCells }) => expectedCells === undefined);
      for (const record of managerKeys ? fit : [])
        managerKeys?.add(record.managerKey ?? '', readKeys(record, header, blankCells).externalId);
      if (adopted) {
        const readRows = (some: readonly CsvRecord[]) =>
          some.map((record) => readRow(record, header, blankCells));
        const confirmed = readRows(fit.filter((record) => confirmedLines.has(file.lineOf(record))));
        // A person has confirmed these users, so they may be linked to this data set, such as rehired users.
        const isAdoptable = (user: User): boolean =>
          user.external_id === '' || canManage(scope, user) || user.blocked_by === scope.dataset;
        for (const field of ['username', 'email'] as const) {
          for (const [row, user] of await this.matchRows(confirmed, field, () => true))
            if (isAdoptable(user)) adopted.confirm(row.externalId, user.uuid);
          const others = adopt === field ? await this.matchRows(readRows(fit), field, isUnlinked) : [];
          for (const [row, user] of others) adopted.add(row.externalId, user.uuid);
        }
      }
      await report(reader.bytesRead);
    }
    return { adopted, managerKeys };
  }

  /** Finds the users who have the usernames or e-mail addresses of rows whose ExternalIds are not in use. */
  private async matchRows(
    rows: readonly FileRow[],
    field: 'email' | 'username',
    isCandidate: (owner: Owner) => boolean,
  ): Promise<[FileRow, User][]> {
    const named = rows.filter(({ externalId }) => externalId !== '');
    const linked = await this.directory.findUuidsByExternalIds(named.map(({ externalId }) => externalId));
    const unlinked = named.filter(({ externalId }) => !linked.has(toExactKey(externalId)));
    const nameOf = (row: FileRow): string => (typeof row.raw[field] === 'string' ? row.raw[field] : '');
    const owners = await this.directory.findOwners(unlinked.map((row) => toLoginIdentifier(nameOf(row))));
    const candidates = [...owners.values()].filter(isCandidate);
    const users = await this.directory.findByUuids(candidates.map(({ uuid }) => uuid));
    return unlinked.flatMap((row): [FileRow, User][] => {
      const user = users.get(owners.get(toLoginIdentifier(nameOf(row)))?.uuid ?? '');
      // Ignore an owner who has this name in the other field. Usernames and email addresses share one namespace.
      return user && toLoginKey(user[field]) === toLoginKey(nameOf(row)) ? [[row, user]] : [];
    });
  }

  /**
   * Finds the existing users and managers of rows.
   * @param facts facts of the whole file (`readAhead`).
   */
  async find(
    rows: readonly RowKeys[],
    dataset: string,
    { adopted, managerKeys }: FileFacts,
  ): Promise<RowUsers> {
    const named = rows.map(({ externalId }) => externalId).filter((id) => id !== '');
    const cells = [...new Set(rows.flatMap(({ manager }) => manager ?? []))];
    const managerTexts = await this.findManagerTexts(cells, managerKeys);
    const texts = new Set(cells.map((cell) => managerTexts.get(cell) ?? cell));
    const [found, managers] = await Promise.all([
      this.findUsers(named, dataset, adopted),
      texts.size === 0 ? new Map<string, NamedManager>() : this.findManagers([...texts], adopted),
    ]);
    return { ...found, managers, managerTexts };
  }

  /** Finds managers by `manager_key`: in the file, or else in the database if the column identifies users. */
  private async findManagerTexts(cells: readonly string[], keys?: ManagerKeys): Promise<Map<string, string>> {
    if (!keys) return new Map();
    const unlisted = cells.filter((cell) => keys.findExternalId(cell) === undefined);
    const isLogin = keys.identifier === 'login';
    const owners = await this.directory.findOwners(isLogin ? unlisted.map(toLoginIdentifier) : []);
    const toText = (cell: string): string => {
      const listed = keys.findExternalId(cell);
      if (listed !== undefined) return listed || NO_MANAGER;
      if (keys.identifier === 'external_id') return cell;
      return `${NO_MANAGER}${owners.get(toLoginIdentifier(cell))?.uuid ?? ''}`;
    };
    return new Map(cells.map((cell) => [cell, toText(cell)]));
  }

  private async findUsers(
    ids: readonly string[],
    dataset: string,
    adopted?: Adoptions,
  ): Promise<Pick<RowUsers, 'users' | 'deleted'>> {
    const users = await this.directory.findByExternalIds(ids);
    const unknown = ids.filter((id) => !users.has(toExactKey(id)));
    const deleted = await this.directory.findDeletedElsewhere(unknown, dataset);
    if (!adopted) return { users, deleted };
    const uuids = unknown.flatMap((id): [string, string][] => {
      const [key, uuid] = [toExactKey(id), adopted.get(id)];
      // A row with the ExternalId of a deleted user adopts another user only if a person confirmed it.
      const isAdopted = uuid !== undefined && (!deleted.has(key) || adopted.confirmed.has(uuid));
      return isAdopted ? [[key, uuid]] : [];
    });
    const found = await this.directory.findByUuids(uuids.map(([, uuid]) => uuid));
    for (const [key, uuid] of uuids) {
      const user = found.get(uuid);
      // Skip a user who was linked in the meantime, unless a person confirmed the user.
      if (user && (user.external_id === '' || adopted.confirmed.has(uuid))) users.set(key, user);
    }
    return { users, deleted };
  }

  private async findManagers(cells: readonly string[], adopted?: Adoptions): Promise<RowUsers['managers']> {
    const linked = await this.directory.findUuidsByExternalIds(cells);
    const parseUuid = (cell: string): string => UUID_CELL.exec(cell)?.[1]?.trim().toLowerCase() ?? '';
    const known = await this.directory.findExternalIds(cells.map(parseUuid).filter(isUuid));
    const managers = new Map<string, NamedManager>();
    for (const cell of cells) {
      const own = linked.get(toExactKey(cell));
      const taken = own === undefined ? adopted?.get(cell) : undefined;
      const uuid = own ?? taken ?? (known.has(parseUuid(cell)) ? parseUuid(cell) : undefined);
      if (uuid !== undefined) managers.set(cell, { uuid, isAdopted: taken !== undefined });
    }
    return managers;
  }
}
