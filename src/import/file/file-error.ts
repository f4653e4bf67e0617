export type FileErrorCode =
  | 'bad_encoding'
  | 'unclosed_quote'
  | 'bad_quote'
  | 'wrong_cell_count'
  | 'cut_short'
  | 'row_too_long'
  | 'too_many_columns'
  | 'too_many_rows'
  | 'empty_file'
  | 'missing_column'
  | 'unknown_column'
  | 'duplicate_column'
  | 'password_column'
  | 'unknown_encoding'
  | 'unexpected_rows'
  | 'file_lost';

/** An error in a file. Its message says what to do and never quotes a cell. */
export interface FileErrorDetails {
  code: FileErrorCode;
  message: string;
  line?: number | undefined;
}

/** Thrown to reject a whole file before any user is changed. `others` contains the further errors of the file. */
export class FileError extends Error {
  constructor(
    readonly code: FileErrorCode,
    message: string,
    readonly line?: number,
    readonly others: readonly FileErrorDetails[] = [],
  ) {
    super(message);
    this.name = 'FileError';
  }
}
