import { truncated } from '../../common/text.js';
import { type Column, columnOf, headerKey } from './columns.js';
import { FileError } from './file-error.js';

/** Which cell of a row belongs to which column; undefined for a cell that nobody reads. */
export type Header = readonly (Column | undefined)[];

const PASSWORDS = new Set(['password', 'passwd', 'pwd', 'passwordhash']);
const quoted = (name: string): string => `"${truncated(name, 100)}"`;

/**
 * The columns of a header row. Columns whose name begins with `_` are ours (`failed.csv`) and ignored.
 * @throws FileError on a password, an unknown or a repeated column, and when there is no ExternalId.
 */
export function readHeader(names: readonly string[], options: { ignore_unknown_columns: boolean }): Header {
  const header = names.map((name) => (name.trim().startsWith('_') ? undefined : toColumn(name, options)));
  for (const [index, column] of header.entries()) {
    if (!column || header.indexOf(column) === index) continue;
    const first = names[header.indexOf(column)] ?? '';
    throw new FileError(
      'duplicate_column',
      `The columns ${quoted(first)} and ${quoted(names[index] ?? '')} both mean ${column.name}; take one of them out.`,
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
      `Imports set no passwords; take the column ${quoted(name)} out of the file.`,
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
