import { Injectable } from '@nestjs/common';
import { truncated } from '../../common/text.js';
import type { ImportOptions } from '../runs/import-options.js';
import { type Column, columnOf, headerKey } from './columns.js';
import { CsvReader } from './csv-reader.js';
import { FileError } from './file-error.js';
import { ImportFilesRepository } from './import-files.repository.js';

const PASSWORDS = new Set(['password', 'passwd', 'pwd', 'passwordhash']);
const quoted = (name: string): string => `"${truncated(name, 100)}"`;

/** The column of each cell of a row; undefined for an ignored cell. */
export type Header = readonly (Column | undefined)[];

/** A stored file whose header row has been read. */
export interface OpenFile {
  reader: CsvReader;
  /** The cells of the header row. */
  names: string[];
  header: Header;
}

/** Opens the stored files of runs; a file can be read several times. */
@Injectable()
export class RunFiles {
  constructor(private readonly files: ImportFilesRepository) {}

  /** @throws FileError when the header is refused. */
  async open({ id, options }: { id: string; options: ImportOptions }): Promise<OpenFile> {
    const { encoding, delimiter } = options;
    const reader = new CsvReader(this.files.read(id), {
      encoding,
      delimiter,
      knownColumn: (name) => columnOf(name) !== undefined,
    });
    const names = await reader.header();
    return { reader, names, header: readHeader(names, options) };
  }
}

/**
 * The columns of a header row. Names that begin with `_` are those of `failed.csv` and ignored.
 * @throws FileError for a password column, an unknown or a repeated column, and a missing ExternalId.
 */
export function readHeader(names: readonly string[], options: { ignore_unknown_columns: boolean }): Header {
  const header = names.map((name) => (name.trim().startsWith('_') ? undefined : toColumn(name, options)));
  for (const [index, column] of header.entries()) {
    if (!column || header.indexOf(column) === index) continue;
    const first = names[header.indexOf(column)] ?? '';
    throw new FileError(
      'duplicate_column',
      `The columns ${quoted(first)} and ${quoted(names[index] ?? '')} both mean ${column.name}; remove one of them.`,
      1,
    );
  }
  if (!header.some((column) => column?.field === 'external_id')) {
    throw new FileError(
      'missing_column',
      'The header has no column ExternalId, by which rows are matched to users.',
      1,
    );
  }
  return header;
}

function toColumn(name: string, options: { ignore_unknown_columns: boolean }): Column | undefined {
  if (PASSWORDS.has(headerKey(name))) {
    throw new FileError(
      'password_column',
      `Imports set no passwords; remove the column ${quoted(name)} from the file.`,
      1,
    );
  }
  const column = columnOf(name);
  if (!column && !options.ignore_unknown_columns) {
    throw new FileError(
      'unknown_column',
      `The column ${quoted(name)} is not known; correct its name, or import with ignore_unknown_columns=true.`,
      1,
    );
  }
  return column;
}
