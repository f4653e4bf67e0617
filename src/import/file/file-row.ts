import { type JsonObject, isObject } from '../../platform/common/json.js';
import { normalForm, truncated } from '../../platform/common/text.js';
import type { RowError } from '../runs/import-row.js';
import { type Column, splitList } from './columns.js';
import type { CsvRecord } from './record-parser.js';
import { unescapeFormula } from '../../platform/common/csv.js';
import type { Header } from './run-files.js';

/** The users that a row refers to: they are looked up before the rest of the row is read. */
export interface RowKeys {
  line: number;
  /** Trimmed; empty when the cell is blank. */
  externalId: string;
  /** External id of the manager; null clears it, undefined keeps it. */
  manager: string | null | undefined;
}

/** A row of a file in the form in which the API takes a user. */
export interface FileRow extends RowKeys {
  /** Wire names and values as a client would send them, without the manager. */
  raw: JsonObject;
  /** Cells by the field that they set, for error messages. */
  cells: ReadonlyMap<string, string>;
  /** Cells that a spreadsheet, or an export, has damaged. */
  damaged: readonly DamagedCell[];
}

/** A cell that does not hold what it was made from. */
export interface DamagedCell {
  column: Column;
  /** Trimmed. */
  cell: string;
  error: RowError;
}

const TRUE = new Set(['true', 'yes', '1']);
const FALSE = new Set(['false', 'no', '0']);

export function readKeys(record: CsvRecord, header: Header, blankCells: 'clear' | 'keep'): RowKeys {
  const cell = (field: string): string | undefined => {
    const index = header.findIndex((column) => column?.field === field);
    return index < 0 ? undefined : normalForm(unescapeFormula(record.cells[index] ?? ''), 'NFC').trim();
  };
  const manager = cell('manager_uuid');
  const cleared = blankCells === 'keep' ? undefined : null;
  return {
    line: record.line,
    externalId: cell('external_id') ?? '',
    manager: manager === '' ? cleared : manager,
  };
}

export function readRow(record: CsvRecord, header: Header, blankCells: 'clear' | 'keep'): FileRow {
  const raw: JsonObject = {};
  const cells = new Map<string, string>();
  const damaged: DamagedCell[] = [];
  for (const [index, column] of header.entries()) {
    if (!column) continue;
    const cell = unescapeFormula(record.cells[index] ?? '');
    const blank = cell.trim() === '';
    if (blank && (column.keepsBlank || blankCells === 'keep')) continue;
    const error = blank ? undefined : damageOf(cell.trim(), column);
    if (error) damaged.push({ column, cell: cell.trim(), error });
    cells.set(column.field, cells.has(column.field) ? `${cells.get(column.field) ?? ''} ${cell}` : cell);
    if (column.kind !== 'manager') fill(raw, column, cell, blank);
  }
  return { ...readKeys(record, header, blankCells), raw, cells, damaged };
}

function fill(raw: JsonObject, { kind, field }: Column, cell: string, blank: boolean): void {
  if (kind === 'flag') raw[field] = blank ? null : toFlag(cell);
  else if (kind === 'roles') raw[field] = cell.split(/[;|]/).filter((role) => role.trim() !== '');
  else if (kind === 'saml') raw[field] = { saml: splitList(cell) };
  else if (kind === 'network') raw['social_media'] = { ...networks(raw), [field]: cell };
  else raw[field] = cell;
}

function networks({ social_media }: JsonObject): JsonObject {
  return isObject(social_media) ? social_media : {};
}

/** Text that is neither true nor false stays as it is, and the rules of the API refuse it. */
function toFlag(cell: string): boolean | string {
  const word = cell.trim().toLowerCase();
  if (TRUE.has(word)) return true;
  return FALSE.has(word) ? false : cell;
}

const MAX_VALUE = 200;
const NUMBER = /^[+-]?\d+([.,]\d+)?E[+-]?\d+$/i;
/** What spreadsheets show for a formula that failed: in English, in other languages, and in LibreOffice. */
const FAILED = new Set(
  (
    '#N/A #REF! #NAME? #VALUE! #DIV/0! #NULL! #NUM! #SPILL! #CALC! #FIELD! #BLOCKED! #CONNECT! #BUSY! #UNKNOWN! ' +
    '#GETTING_DATA #NV #BEZUG! #WERT! #ZAHL! #N/D #NOM? #VALEUR! #NOMBRE! #NUL! #¡REF! #¿NOMBRE? #¡VALOR! #¡DIV/0! #¡NULO! ' +
    '#¡NUM! #RIF! #NOME? #VALORE! #VALOR! #NUM! #VERW! #WAARDE! #NAAM? #GETAL! #LEEG!'
  ).split(' '),
);
const LIBRE_OFFICE = /^Err:5\d\d$/i;
/** Stands for a character that was lost when the file was made: no value begins with it. */
const LOST = '\ufffd';

/** What is wrong with a cell of a column that sets something, if it does not hold what it was made from. */
function damageOf(cell: string, { field, looksNumeric }: Column): RowError | undefined {
  const error = (code: string, message: string): RowError => {
    return { field, code, message, value: truncated(cell, MAX_VALUE) };
  };
  if (looksNumeric && NUMBER.test(cell)) {
    const message =
      'was turned into a number by a spreadsheet; format the column as text and export it again';
    return error('spreadsheet_number', message);
  }
  if (cell.length <= 16 && (FAILED.has(cell.toUpperCase()) || LIBRE_OFFICE.test(cell))) {
    return error(
      'spreadsheet_error',
      'is the error of a formula; correct it in the spreadsheet and export it again',
    );
  }
  if (cell.includes(LOST)) {
    const message = 'has a character that was lost (U+FFFD); export the file again as UTF-8';
    return error('broken_character', message);
  }
  return undefined;
}
