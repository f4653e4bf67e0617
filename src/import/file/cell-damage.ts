import { truncated } from '../../platform/common/text.js';
import type { RowError } from '../runs/import-row.js';
import type { Column } from './columns.js';

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
export function damageOf(cell: string, { field, looksNumeric }: Column): RowError | undefined {
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
