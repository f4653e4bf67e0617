import { Injectable } from '@nestjs/common';
import type { ImportOptions } from '../runs/import-options.js';
import { columnOf } from './columns.js';
import { CsvReader } from './csv-reader.js';
import { type Header, readHeader } from './header.js';
import { ImportFilesRepository } from './import-files.repository.js';

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
