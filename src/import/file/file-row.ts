import type { JsonObject } from '../../platform/common/json.js';
import { toNormalForm, truncate } from '../../platform/common/text.js';
import { MAX_VALUE, type RowError } from '../runs/import-row.js';
import { type Column, splitList } from './columns.js';
import type { CsvRecord, DamagedCell } from './record-parser.js';
import { unescapeFormula } from '../../platform/common/csv.js';
import type { Header } from './run-files.js';

/**
 * The cells of a row that identify its user and the user's manager. They are read first, so that both users can be
 * loaded before the other cells are read.
 */
export interface RowKeys {
  line: number;
  /** Trimmed text of the ExternalId cell. Empty if the cell is blank. */
  externalId: string;
  /**
   * Text of the manager cell: an external id, or `uuid:` and the UUID of the manager. Null removes the manager.
   * Undefined leaves the manager unchanged.
   */
  manager: string | null | undefined;
}

/** A row of a file, converted to the input format of the API. */
export interface FileRow extends RowKeys {
  /** Maps the wire name of a field to its value, as an API client would send it. Does not contain the manager. */
  raw: JsonObject;
  /** Maps a field to the text of its cell, which error messages quote. */
  cells: ReadonlyMap<string, string>;
  damaged: readonly DamagedCell[];
}

/** Words for booleans. Any other text of a flag stays unchanged, so that the rules of the API reject it. */
const FLAGS = new Map(Object.entries({ true: true, yes: true, 1: true, false: false, no: false, 0: false }));

export function readKeys(record: CsvRecord, header: Header, blankCells: 'clear' | 'keep'): RowKeys {
  const getCell = (field: string): string | undefined => {
    const index = header.findIndex((column) => column?.field === field);
    return index < 0 ? undefined : toNormalForm(unescapeFormula(record.cells[index] ?? ''), 'NFC').trim();
  };
  const manager = getCell('manager_uuid');
  const blankManager = blankCells === 'keep' ? undefined : null;
  return {
    line: record.line,
    externalId: getCell('external_id') ?? '',
    manager: manager === '' ? blankManager : manager,
  };
}

export function readRow(record: CsvRecord, header: Header, blankCells: 'clear' | 'keep'): FileRow {
  const raw: JsonObject = {};
  const cells = new Map<string, string>();
  const damaged = [...(record.damaged ?? [])];
  for (const [index, column] of header.entries()) {
    if (!column) continue;
    const cell = unescapeFormula(record.cells[index] ?? '');
    const blank = cell.trim() === '';
    if (blank && (column.ignoresBlank || blankCells === 'keep')) continue;
    const error = blank ? undefined : findDamage(cell.trim(), column);
    if (error) damaged.push({ column, cell: cell.trim(), error });
    cells.set(column.field, cells.has(column.field) ? `${cells.get(column.field) ?? ''} ${cell}` : cell);
    if (column.kind !== 'manager') setField(raw, column, cell, blank);
  }
  return { ...readKeys(record, header, blankCells), raw, cells, damaged };
}

function setField(raw: JsonObject, { kind, field }: Column, cell: string, blank: boolean): void {
  if (kind === 'flag') raw[field] = blank ? null : (FLAGS.get(cell.trim().toLowerCase()) ?? cell);
  else if (kind === 'roles') raw[field] = cell.split(/[;|]/).filter((role) => role.trim() !== '');
  else if (kind === 'saml') raw[field] = { saml: splitList(cell) };
  else if (kind === 'network')
    raw['social_media'] = Object.assign({}, raw['social_media'], { [field]: cell });
  else raw[field] = cell;
}

const SCIENTIFIC_NUMBER = /^[+-]?\d+([.,]\d+)?E[+-]?\d+$/i;
/** Texts that spreadsheets show instead of the result of a failed formula, in several languages. */
const FORMULA_ERRORS = new Set(
  (
    '#N/A #REF! #NAME? #VALUE! #DIV/0! #NULL! #NUM! #SPILL! #CALC! #FIELD! #BLOCKED! #CONNECT! #BUSY! #UNKNOWN! ' +
    '#GETTING_DATA #NV #BEZUG! #WERT! #ZAHL! #N/D #NOM? #VALEUR! #NOMBRE! #NUL! #¡REF! #¿NOMBRE? #¡VALOR! #¡DIV/0! #¡NULO! ' +
    '#¡NUM! #RIF! #NOME? #VALORE! #VALOR! #NUM! #VERW! #WAARDE! #NAAM? #GETAL! #LEEG!'
  ).split(' '),
);
const LIBRE_OFFICE_ERROR = /^Err:5\d\d$/i;
const LOST_CHARACTER = '\ufffd';

function findDamage(cell: string, { field, looksNumeric }: Column): RowError | undefined {
  const createCellError = (code: string, message: string): RowError => {
    return { field, code, message, value: truncate(cell, MAX_VALUE) };
  };
  if (looksNumeric && SCIENTIFIC_NUMBER.test(cell)) {
    const message =
      'was converted to a number by a spreadsheet; format the column as text and export the file again';
    return createCellError('spreadsheet_number', message);
  }
  const isFormulaError = cell.startsWith('#') && FORMULA_ERRORS.has(cell.toUpperCase());
  if (cell.length <= 16 && (isFormulaError || LIBRE_OFFICE_ERROR.test(cell))) {
    const message =
      'is an error value from a spreadsheet formula; correct the formula and export the file again';
    return createCellError('spreadsheet_error', message);
  }
  if (cell.includes(LOST_CHARACTER)) {
    const message = 'contains U+FFFD in place of a lost character; export the file again as UTF-8';
    return createCellError('broken_character', message);
  }
  return undefined;
}
