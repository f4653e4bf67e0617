import type { JsonObject } from '../../common/json.js';
import { normalForm } from '../../common/text.js';
import type { RowError } from '../run/import.row.js';
import type { Column } from './columns.js';
import type { CsvRecord } from './csv-reader.js';
import { armed } from '../../common/csv.js';
import type { Header } from './header.js';
import { splitList } from './list-cell.js';

/** A row of a file in the form in which the API takes a user. */
export interface FileRow {
  line: number;
  /** Trimmed; empty when the cell is. */
  externalId: string;
  /** Wire names and values, as a client would send them; the manager aside. */
  raw: JsonObject;
  /** External id of the manager; null clears, undefined leaves alone. */
  manager: string | null | undefined;
  /** Cells by the field that they fill, for error messages. */
  cells: ReadonlyMap<string, string>;
  /** Cells that a spreadsheet has taken for a number. */
  spoilt: readonly RowError[];
}

const SPOILT = /^[+-]?\d+([.,]\d+)?E[+-]?\d+$/i;
const TRUE = new Set(['true', 'yes', '1']);
const FALSE = new Set(['false', 'no', '0']);

export function readRow(record: CsvRecord, header: Header, blankCells: 'clear' | 'keep'): FileRow {
  const raw: JsonObject = {};
  const cells = new Map<string, string>();
  const spoilt: RowError[] = [];
  let manager: string | null | undefined;
  for (const [index, column] of header.entries()) {
    if (!column) continue;
    const cell = armed(record.cells[index] ?? '');
    const blank = cell.trim() === '';
    if (blank && (column.keepsBlank || blankCells === 'keep')) continue;
    if (column.looksNumeric && SPOILT.test(cell.trim())) spoilt.push(spoiltError(column.field, cell));
    cells.set(column.field, cells.has(column.field) ? `${cells.get(column.field) ?? ''} ${cell}` : cell);
    if (column.kind === 'manager') manager = blank ? null : normalForm(cell, 'NFC').trim();
    else fill(raw, column, cell, blank);
  }
  const externalId =
    typeof raw['external_id'] === 'string' ? normalForm(raw['external_id'], 'NFC').trim() : '';
  return { line: record.line, externalId, raw, manager, cells, spoilt };
}

function fill(raw: JsonObject, { kind, field }: Column, cell: string, blank: boolean): void {
  if (kind === 'flag') raw[field] = blank ? null : toFlag(cell);
  else if (kind === 'roles') raw[field] = cell.split(/[;|]/).filter((role) => role.trim() !== '');
  else if (kind === 'saml') raw[field] = { saml: splitList(cell) };
  else if (kind === 'network')
    raw['social_media'] = { ...(raw['social_media'] as object | undefined), [field]: cell };
  else raw[field] = cell;
}

/** What is neither yes nor no stays text, to be refused as the API refuses it. */
function toFlag(cell: string): boolean | string {
  const word = cell.trim().toLowerCase();
  if (TRUE.has(word)) return true;
  return FALSE.has(word) ? false : cell;
}

function spoiltError(field: string, cell: string): RowError {
  return {
    field,
    code: 'spreadsheet_number',
    message: 'was turned into a number by a spreadsheet; format the column as text and export it again',
    value: cell.trim().slice(0, 200),
  };
}
