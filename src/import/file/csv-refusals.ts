import { CsvError } from 'csv-parse';
import { FileError } from './file-error.js';

/** Far more than a row of valid cells can have. */
export const MAX_ROW_CHARACTERS = 512 * 1024;

/** The place of a fault: the line on which its record begins. */
export interface Place {
  line: number;
  /** Columns of the header. */
  width: number;
  /** Nothing stands behind the record. */
  last: boolean;
}

/** An error of csv-parse in our words, which quote no cell; one that no file can cause stays what it is. */
export function toFileError(error: Error, place: Place): Error {
  if (!(error instanceof CsvError)) return error;
  const { line } = place;
  switch (error.code) {
    case 'CSV_QUOTE_NOT_CLOSED':
      return new FileError(
        'unclosed_quote',
        `A quote that opens on line ${line} is never closed; close it, or export the file again: it may have been cut short.`,
        line,
      );
    case 'CSV_INVALID_CLOSING_QUOTE':
      return new FileError(
        'bad_quote',
        `On line ${line} text follows a closing quote; double a quote that belongs to the text, ` +
          'and close the quote that opens a cell.',
        line,
      );
    case 'INVALID_OPENING_QUOTE':
      return new FileError(
        'bad_quote',
        `A cell on line ${line} has a quote in its midst; put the cell into quotes and double the quote.`,
        line,
      );
    case 'CSV_RECORD_INCONSISTENT_FIELDS_LENGTH':
      return wrongCellCount(Array.isArray(error['record']) ? error['record'].length : 0, place);
    default:
      return error;
  }
}

function wrongCellCount(cells: number, { line, width, last }: Place): FileError {
  return new FileError(
    'wrong_cell_count',
    `Line ${line} has ${cells} ${cells === 1 ? 'cell' : 'cells'}, but the header has ${width}; ` +
      'put a cell that holds the delimiter into quotes, and keep empty cells.' +
      (last ? ' It is the last line: the file may have been cut short; export it again.' : ''),
    line,
  );
}

export function rowTooLong(line: number): FileError {
  return new FileError(
    'row_too_long',
    `Line ${line} has more than ${MAX_ROW_CHARACTERS} characters; shorten its cells, or correct the line ends of the file.`,
    line,
  );
}

export function endlessQuote(line: number): FileError {
  return new FileError(
    'row_too_long',
    `A quote that opens on line ${line} is probably never closed: the row has more than ` +
      `${MAX_ROW_CHARACTERS} characters; close the quote, or double it if it belongs to the text.`,
    line,
  );
}
