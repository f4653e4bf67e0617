import { Injectable } from '@nestjs/common';
import { isUuid } from '../../platform/common/uuid.js';
import { UserDirectory } from '../../users/search/user-directory.service.js';
import { exactKey, loginIdentifier, loginKey } from '../../users/model/comparison-keys.js';
import type { User } from '../../users/model/user.js';
import { type RowKeys, type FileRow, readRow } from '../file/file-row.js';
import { parse, stringify } from 'uuid';
import { RunFiles } from '../file/run-files.js';
import type { ImportRun } from '../runs/import-run.js';
import { IntList, TextNumbers } from './packed-numbers.js';
import { ROWS_AT_ONCE } from './plan-builder.js';

const WORDS = 4;

/** Users that rows of a file take over: uuids by ExternalId, in some forty bytes each. */
export class Adopted {
  private readonly externalIds = new TextNumbers();
  private readonly words = new IntList();

  get(externalId: string): string | undefined {
    const number = this.externalIds.find(exactKey(externalId));
    if (number === 0) return undefined;
    const bytes = Buffer.alloc(4 * WORDS);
    for (let word = 0; word < WORDS; word++)
      bytes.writeInt32BE(this.words.at(number * WORDS + word), 4 * word);
    return stringify(bytes);
  }

  /** Only the first row with an ExternalId counts. */
  add(externalId: string, uuid: string): void {
    const known = this.externalIds.last;
    const number = this.externalIds.number(exactKey(externalId));
    if (number <= known) return;
    const bytes = Buffer.from(parse(uuid));
    for (let word = 0; word < WORDS; word++)
      this.words.set(number * WORDS + word, bytes.readInt32BE(4 * word));
  }
}

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
  constructor(
    private readonly files: RunFiles,
    private readonly directory: UserDirectory,
  ) {}

  /**
   * Finds the users without external id that a file takes over (`adopt`), before its rows are planned: the manager of a row
   * may be such a user of any other row, and must be known by uuid.
   * @param field by which they are found. @param report takes how many bytes have been read.
   * @throws FileError where the file is refused as a whole.
   */
  async adopted(run: ImportRun, field: 'email' | 'username', report: (bytes: number) => Promise<void>) {
    const adopted = new Adopted();
    const { blank_cells: blankCells } = run.options;
    const file = await this.files.open(run);
    const { reader, header } = file;
    for await (const records of file.records(ROWS_AT_ONCE)) {
      const fit = records.filter(({ misfit }) => misfit === undefined);
      const rows = fit.map((record) => readRow(record, header, blankCells));
      for (const [row, user] of await this.adoptable(rows, field)) adopted.add(row.externalId, user.uuid);
      await report(reader.bytesRead);
    }
    return adopted;
  }

  private async adoptable(rows: readonly FileRow[], field: 'email' | 'username'): Promise<[FileRow, User][]> {
    const named = rows.filter(({ externalId }) => externalId !== '');
    const linked = await this.directory.uuidsByExternalIds(named.map(({ externalId }) => externalId));
    const unlinked = named.filter(({ externalId }) => !linked.has(exactKey(externalId)));
    const nameOf = (row: FileRow): string => (typeof row.raw[field] === 'string' ? row.raw[field] : '');
    const owners = await this.directory.owners(unlinked.map((row) => loginIdentifier(nameOf(row))));
    const candidates = [...owners.values()].filter(({ external_id }) => external_id === '');
    const users = await this.directory.byUuids(candidates.map(({ uuid }) => uuid));
    return unlinked.flatMap((row): [FileRow, User][] => {
      const user = users.get(owners.get(loginIdentifier(nameOf(row)))?.uuid ?? '');
      // The name may be another one's e-mail address, and the other way round.
      return user && loginKey(user[field]) === loginKey(nameOf(row)) ? [[row, user]] : [];
    });
  }

  /** @param adopted users that rows of the file take over, where its options ask for that. */
  async of(rows: readonly RowKeys[], adopted?: Adopted): Promise<Facts> {
    const named = rows.map(({ externalId }) => externalId).filter((id) => id !== '');
    const cells = new Set(rows.flatMap(({ manager }) => manager ?? []));
    const [users, managers] = await Promise.all([
      this.users(named, adopted),
      cells.size === 0 ? new Map<string, NamedManager>() : this.managers([...cells], adopted),
    ]);
    return { users, managers };
  }

  /** Returns the users that rows are about: with their ExternalIds, or taken over by a row. */
  private async users(named: readonly string[], adopted: Adopted | undefined): Promise<Map<string, User>> {
    const users = await this.directory.byExternalIds(named);
    if (adopted) await this.addAdopted(users, named, adopted);
    return users;
  }

  private async addAdopted(users: Map<string, User>, ids: readonly string[], adopted: Adopted) {
    const uuids = ids.flatMap((id): [string, string][] => {
      const uuid = users.has(exactKey(id)) ? undefined : adopted.get(id);
      return uuid === undefined ? [] : [[exactKey(id), uuid]];
    });
    if (uuids.length === 0) return;
    const found = await this.directory.byUuids(uuids.map(([, uuid]) => uuid));
    for (const [key, uuid] of uuids) {
      const user = found.get(uuid);
      if (user?.external_id === '') users.set(key, user); // it has not been linked since
    }
  }

  /** Manager cell → manager, of those that exist already. */
  private async managers(cells: readonly string[], adopted: Adopted | undefined): Promise<Facts['managers']> {
    const linked = await this.directory.uuidsByExternalIds(cells);
    const uuidIn = (cell: string): string => BY_UUID.exec(cell)?.[1]?.trim().toLowerCase() ?? '';
    const known = await this.directory.externalIdsOf(cells.map(uuidIn).filter(isUuid));
    const managers = new Map<string, NamedManager>();
    for (const cell of cells) {
      const own = linked.get(exactKey(cell));
      const taken = own === undefined ? adopted?.get(cell) : undefined;
      const uuid = own ?? taken ?? (known.has(uuidIn(cell)) ? uuidIn(cell) : undefined);
      if (uuid !== undefined) managers.set(cell, { uuid, awaited: taken !== undefined });
    }
    return managers;
  }
}
