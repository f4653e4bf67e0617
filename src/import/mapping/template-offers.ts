import { truncate } from '../../platform/common/text.js';
import { toLoginKey } from '../../users/model/comparison-keys.js';
import { isBlank, listFilled } from '../file/columns.js';
import { MAX_TEMPLATE } from '../runs/import-profile.js';
import { MAX_TEXT, type PreviewTemplateDto } from './import-preview.dto.js';
import { parseTemplate, renderTemplate } from './template.js';

const MAX_TEMPLATES = 3;
const MAX_VALUES = 5;
/** Minimum share of the cells or values of a column that must fit. */
export const MIN_SHARE = 0.8;

export const EMAIL = /^[^\s@]{1,64}@[^\s@]{1,255}$/;
/** Matches a text with a digit that is neither a date nor a phone number. */
const ID = /^(?=.*\d)(?!\d+[./-]\d+[./-]\d+)[^\s@+(]+$/;
/** Matches the name of a column whose ids are more stable than e-mail addresses. */
const NUMBER_NAME = /(nummer|number|nr\.?)$/i;
/** Matches the name of a column that contains first names before surnames. */
const FIRST_NAME_FIRST = /^(vor|rufn|fore|first|given|prénom|nombre|nome)/i;
/** Matches a username that other systems accept too. */
const LOGIN_NAME = /^[\w.@+-]+$/;
/** Matches the name of a column that contains surnames before first names. */
const SURNAME_FIRST = /^(nach|family?|sur|last).*(vor|first|given|fore)|^name,? vor/i;
const NAME_WITH_COMMA = /^\p{L}[^,\d]*,\s*\p{L}[^,\d]*$/u;
const NAME_WITH_SPACE = /^\p{L}[\p{L}\p{M}'’.-]*( \p{L}[\p{L}\p{M}'’.-]*)+$/u;
/** Matches the name of a column that lists people. Cells with spaces in it are probably full names. */
const PERSON = /nam|person|member|mitglied|mitarbeit|employee|student|pupil|schüler|teacher|lehr|nombre/i;

/** A source column that templates may use, with the import column that it fills. */
export interface TemplateSource {
  name: string;
  target: string | undefined;
  cells: readonly string[];
}

/**
 * Builds templates for columns that no source column fills, the best first: ExternalId, Username and Email, and
 * ForeName and Surname if one column contains both.
 */
export function offerTemplates(
  sources: readonly TemplateSource[],
  isFilled: (column: string) => boolean,
): PreviewTemplateDto[] {
  const insert = (source: TemplateSource | undefined, calls: string): string =>
    source === undefined ? '' : `{${source.name.replace(/[\\{}|:]/g, '\\$&')}${calls}}`;
  const findTarget = (column: string) => sources.find(({ target }) => target === column);
  const filterSources = (pattern: RegExp) =>
    sources.filter(({ cells }) => mostlyPass(cells, (cell) => pattern.test(cell)));
  const isFullName = ({ name, target, cells }: TemplateSource): boolean =>
    (!target || target === 'KnownAs') &&
    PERSON.test(name) &&
    mostlyPass(cells, (cell) => NAME_WITH_SPACE.test(cell)) &&
    hasUniqueCells(cells, MIN_SHARE);
  const [withComma] = filterSources(NAME_WITH_COMMA);
  const combined = withComma ?? sources.find(isFullName);
  const emails = filterSources(EMAIL);
  const ids = filterSources(ID).filter(({ target, cells }) => !target && !isLineNumber(cells));
  const [before, after] = withComma ? [':before:,:trim', ':after:,:trim'] : [':before: ', ':after: '];
  const isFirstNameFirst = withComma
    ? FIRST_NAME_FIRST.test(withComma.name)
    : !SURNAME_FIRST.test(combined?.name ?? '');
  const [first, last] = isFirstNameFirst ? [before, after] : [after, before];
  const join = (forename: string, surname: string): string =>
    forename && surname && `${forename}.${surname.slice(0, -1)}:unique}`;
  const names = [
    join(insert(findTarget('ForeName'), ':ascii:lower'), insert(findTarget('Surname'), ':ascii:lower')),
    join(insert(combined, `${first}:ascii:lower`), insert(combined, `${last}:ascii:lower`)),
  ].filter((name) => name !== '');
  const id = insert(findTarget('ExternalId'), ':lower');
  const fallbacks = [...names, ...(id === '' ? [] : [`${id.slice(0, -1)}:unique}`])];
  const templates: Readonly<Record<string, string[]>> = {
    ExternalId: [
      insert(findTarget('Username'), ':lower'),
      ...ids.filter(({ name }) => NUMBER_NAME.test(name)).map((source) => insert(source, '')),
      ...emails.map((source) => insert(source, ':lower')),
      ...ids.map((source) => insert(source, '')),
    ],
    Username: [
      ...names,
      ...emails.map((source) => insert(source, ':before:@:lower:unique')),
      ...emails.flatMap((source) =>
        fallbacks.map((fallback) => `${insert(source, ':before:@:lower')} || ${fallback}`),
      ),
      id,
    ],
    Email: emails.map((source) => insert(source, ':lower')),
    ForeName: [insert(combined, first)],
    Surname: [insert(combined, last)],
  };
  const cells = new Map(sources.toReversed().map((source) => [source.name.trim(), source.cells]));
  return Object.entries(templates)
    .filter(([column]) => !isFilled(column))
    .flatMap(([column, texts]) => {
      const rate = (share: number) =>
        [...new Set(texts)].flatMap((text) => rateTemplate(column, text, cells, share));
      const complete = column === 'ExternalId' ? rate(1) : [];
      const offers = complete.length > 0 ? complete : rate(MIN_SHARE);
      return offers
        .toSorted((a, b) => Number(a.duplicates > 0) - Number(b.duplicates > 0) || a.poor - b.poor)
        .slice(0, MAX_TEMPLATES)
        .map(({ poor: _, ...offer }) => offer);
    });
}

/**
 * Renders a template for all records. Returns an empty list if too many values are blank, or too many external ids are
 * repeated.
 * @param cells cells of each source column
 * @param share minimum share of the values that must fit.
 * @returns the template, and in `poor` the number of rows with an empty value, or with a username that contains spaces,
 * apostrophes or similar characters.
 */
function rateTemplate(
  column: string,
  template: string,
  cells: ReadonlyMap<string, readonly string[]>,
  share: number,
) {
  if (template === '' || template.length > MAX_TEMPLATE) return [];
  const isUnique = template.endsWith(':unique}');
  const parsed = parseTemplate(template.replace(/:unique}$/, '}'));
  const [first] = cells.values();
  const rows = first?.length ?? 0;
  const values = Array.from({ length: rows }, (_, row) =>
    renderTemplate(parsed, (name) => cells.get(name)?.[row] ?? ''),
  );
  const filled = listFilled(values);
  const distinct = new Set(filled.map(toLoginKey)).size;
  if (rows === 0 || filled.length < share * rows) return [];
  if (column === 'ExternalId' && distinct < share * filled.length) return [];
  // The function `unique` numbers repeated values.
  const duplicates = isUnique ? 0 : filled.length - distinct;
  const shown = values.slice(0, MAX_VALUES).map((value) => truncate(value, MAX_TEXT));
  const poor = values.filter((value) => isBlank(value) || (column === 'Username' && !LOGIN_NAME.test(value)));
  return [{ column, template, values: shown, duplicates, poor: poor.length }];
}

/** Returns true if cells are the numbers of lines, which do not identify users. Numbers such as 0001 are ids. */
const isLineNumber = (cells: readonly string[]): boolean =>
  cells.every((cell, index) => cell === String(Number(cells[0]) + index) && Number(cells[0]) <= 1);

/** @param share minimum share of the filled cells that must be distinct. */
export function hasUniqueCells(cells: readonly string[], share = 1): boolean {
  const filled = listFilled(cells);
  return new Set(filled).size >= share * filled.length;
}

/** Returns true if at least MIN_SHARE of the filled cells pass a test. */
export function mostlyPass(cells: readonly string[], test: (cell: string) => boolean): boolean {
  const filled = listFilled(cells);
  return filled.length > 0 && filled.filter(test).length >= MIN_SHARE * filled.length;
}
