import { Injectable } from '@nestjs/common';
import { parse, stringify } from 'uuid';
import { UserDirectory } from '../../users/search/user-directory.service.js';
import { exactKey, loginIdentifier, loginKey } from '../../users/model/keys.js';
import type { User } from '../../users/model/user.js';
import { type FileRow, readRow } from '../file/file-row.js';
import { RunFiles } from '../file/run-files.js';
import type { ImportRun } from '../runs/import-run.js';
import { IntList, TextNumbers } from './compact-storage.js';
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

  /** The first row with an ExternalId has the say. */
  add(externalId: string, uuid: string): void {
    const known = this.externalIds.last;
    const number = this.externalIds.number(exactKey(externalId));
    if (number <= known) return;
    const bytes = Buffer.from(parse(uuid));
    for (let word = 0; word < WORDS; word++)
      this.words.set(number * WORDS + word, bytes.readInt32BE(4 * word));
  }
}

/**
 * Finds the users without external id that a file takes over (`adopt`), before its rows are planned: the manager of a row
 * may be such a user of any other row, and must be known by uuid.
 */
@Injectable()
export class Adoption {
  constructor(
    private readonly files: RunFiles,
    private readonly directory: UserDirectory,
  ) {}

  /** @param report takes how many bytes have been read. @throws FileError where the file is refused as a whole. */
  async of(run: ImportRun, report: (bytes: number) => Promise<void>): Promise<Adopted> {
    const adopted = new Adopted();
    const { adopt: field, blank_cells: blankCells } = run.options;
    if (field === 'none') return adopted;
    const file = await this.files.open(run);
    const { reader, header } = file;
    for await (const records of file.records(ROWS_AT_ONCE)) {
      const fit = records.filter(({ misfit }) => misfit === undefined);
      const rows = fit.map((record) => readRow(record, header, blankCells));
      for (const [row, user] of await this.matches(rows, field)) adopted.add(row.externalId, user.uuid);
      await report(reader.bytesRead);
    }
    return adopted;
  }

  private async matches(rows: readonly FileRow[], field: 'email' | 'username'): Promise<[FileRow, User][]> {
    const named = rows.filter(({ externalId }) => externalId !== '');
    const linked = await this.directory.uuidsByExternalIds(named.map(({ externalId }) => externalId));
    const strangers = named.filter(({ externalId }) => !linked.has(exactKey(externalId)));
    const nameOf = (row: FileRow): string => (typeof row.raw[field] === 'string' ? row.raw[field] : '');
    const owners = await this.directory.owners(strangers.map((row) => loginIdentifier(nameOf(row))));
    const unlinked = [...owners.values()].filter(({ external_id }) => external_id === '');
    const users = await this.directory.byUuids(unlinked.map(({ uuid }) => uuid));
    return strangers.flatMap((row): [FileRow, User][] => {
      const user = users.get(owners.get(loginIdentifier(nameOf(row)))?.uuid ?? '');
      // The name may be another one's e-mail address, and the other way round.
      return user && loginKey(user[field]) === loginKey(nameOf(row)) ? [[row, user]] : [];
    });
  }
}
