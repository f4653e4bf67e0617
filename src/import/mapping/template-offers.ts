import { truncate } from '../../platform/common/text.js';
import { toLoginKey } from '../../users/model/comparison-keys.js';
import { isBlank } from '../file/columns.js';
import { MAX_TEXT, type PreviewTemplateDto } from './import-preview.dto.js';
import { MAX_TEMPLATE, parseTemplate, renderTemplate } from './template.js';

const MAX_TEMPLATES = 3;
const MAX_VALUES = 5;
/** Minimum share of the cells or values of a column that must fit. */
const MIN_SHARE = 0.8;

const EMAIL = /^[^\s@]+@[^\s@]+$/;
/** Matches a text with a digit that is neither a date nor a phone number. */
const ID = /^(?=.*\d)(?!\d+[./-]\d+[./-]\d+)[^\s@+(]+$/;
const NAME_IN_ONE_CELL = /^\p{L}[^,\d]*,\s*\p{L}[^,\d]*$/u;

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
  const filterSources = (pattern: RegExp) => sources.filter(({ cells }) => hasShare(cells, pattern));
  const [combined] = filterSources(NAME_IN_ONE_CELL);
  const emails = filterSources(EMAIL);
  const ids = filterSources(ID).filter(({ target, cells }) => !target && !isLineNumber(cells));
  const join = (first: string, last: string): string =>
    first && last && `${first}.${last.slice(0, -1)}:unique}`;
  const templates: Readonly<Record<string, string[]>> = {
    ExternalId: [
      insert(findTarget('Username'), ':lower'),
      ...emails.map((source) => insert(source, ':lower')),
      ...ids.map((source) => insert(source, '')),
    ],
    Username: [
      join(insert(findTarget('ForeName'), ':ascii:lower'), insert(findTarget('Surname'), ':ascii:lower')),
      join(insert(combined, ':after:,:trim:ascii:lower'), insert(combined, ':before:,:trim:ascii:lower')),
      ...emails.map((source) => insert(source, ':before:@:lower:unique')),
      insert(findTarget('ExternalId'), ':lower'),
    ],
    Email: emails.map((source) => insert(source, ':lower')),
    ForeName: [insert(combined, ':after:,:trim')],
    Surname: [insert(combined, ':before:,:trim')],
  };
  return Object.entries(templates)
    .filter(([column]) => !isFilled(column))
    .flatMap(([column, texts]) =>
      [...new Set(texts)]
        .flatMap((text) => rateTemplate(column, text, sources))
        .toSorted((a, b) => Number(countsDuplicates(a)) - Number(countsDuplicates(b)))
        .slice(0, MAX_TEMPLATES),
    );
}

const countsDuplicates = ({ template, duplicates }: PreviewTemplateDto): boolean =>
  duplicates > 0 && !template.endsWith(':unique}');

/** Renders a template for all records. Returns an empty list if too many values are blank. */
function rateTemplate(
  column: string,
  template: string,
  sources: readonly TemplateSource[],
): PreviewTemplateDto[] {
  if (template === '' || template.length > MAX_TEMPLATE) return [];
  const parsed = parseTemplate(template.replace(/:unique}$/, '}'));
  const indexes = parsed.flatMap((part) =>
    typeof part === 'string'
      ? []
      : [part.columns.map((name) => sources.findIndex((each) => each.name.trim() === name))],
  );
  const rows = sources[0]?.cells.length ?? 0;
  const values = Array.from({ length: rows }, (_, row) =>
    renderTemplate(parsed, indexes, (index) => sources[index]?.cells[row] ?? ''),
  );
  const filled = values.filter((value) => !isBlank(value));
  const duplicates = filled.length - new Set(filled.map(toLoginKey)).size;
  const isId = column === 'ExternalId';
  if (rows === 0 || filled.length < (isId ? 1 : MIN_SHARE) * rows || (isId && duplicates > 0)) return [];
  const shown = values.slice(0, MAX_VALUES).map((value) => truncate(value, MAX_TEXT));
  return [{ column, template, values: shown, duplicates }];
}

/** Returns true if cells are the numbers of lines, which do not identify users. */
const isLineNumber = (cells: readonly string[]): boolean =>
  cells.every((cell, index) => Number(cell) === Number(cells[0]) + index && Number(cells[0]) <= 1);

function hasShare(cells: readonly string[], pattern: RegExp): boolean {
  const filled = cells.filter((cell) => !isBlank(cell));
  return filled.length > 0 && filled.filter((cell) => pattern.test(cell)).length >= MIN_SHARE * filled.length;
}
