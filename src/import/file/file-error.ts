/** Why a whole file is refused. */
export type FileErrorCode =
  | 'bad_encoding'
  | 'unclosed_quote'
  | 'bad_quote'
  | 'wrong_cell_count'
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

/** Refuses a whole file before any user is written. The message says what to do and quotes no cell. */
export class FileError extends Error {
  constructor(
    readonly code: FileErrorCode,
    message: string,
    readonly line?: number,
  ) {
    super(message);
    this.name = 'FileError';
  }
}
