import { expect } from '@jest/globals';
import { findColumn } from '../../../src/import/file/columns.js';
import { type CsvOptions, CsvReader } from '../../../src/import/file/csv-reader.js';
import { FileError } from '../../../src/import/file/file-error.js';
import type { ByteSource } from './bytes.js';

/** The header and rows that were read from a file, up to the error. */
export interface ReadFile {
  header?: string[];
  /** Cells by line. */
  rows: Record<number, string[]>;
  error?: { code: string; line: number | undefined; message: string };
}

const isKnownColumn = (name: string) => findColumn(name) !== undefined;
export const openCsv = (source: ByteSource, options: Partial<CsvOptions> = {}) =>
  new CsvReader(source, { isKnownColumn: isKnownColumn, ...options });

/** Reads a whole file. Expects that the file is closed afterwards. */
export async function readCsv(source: ByteSource, options?: Partial<CsvOptions>): Promise<ReadFile> {
  const reader = openCsv(source, options);
  const result: ReadFile = { rows: {} };
  try {
    result.header = await reader.readHeader();
    for await (const batch of reader.readRecords(3))
      for (const { line, cells } of batch) result.rows[line] = cells;
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    result.error = { code: error.code, line: error.line, message: error.message };
  }
  expect(reader.bytesRead).toBe(source.bytesRead);
  expect(source.closed).toBe(true);
  return result;
}
