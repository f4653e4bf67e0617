import { isCleanText, toNormalForm } from '../../platform/common/text.js';
import type { JsonObject } from '../../platform/common/json.js';
import type { UserSettings } from '../../users/rules/user-settings.js';
import { MANAGED_BY_SCIM } from '../../users/model/formats.js';
import { listFilled, toHeaderKey } from '../file/columns.js';
import { ImportOptions, SUPERVISED } from '../runs/import-options.js';
import { IGNORED, type ImportProfile, type ImportRequest, MAX_VALUE_LENGTH } from '../runs/import-profile.js';
import type { PreviewColumnDto, PreviewTemplateDto, PreviewWordsDto } from './import-preview.dto.js';
import { checkProfile } from './profile-check.js';
import { findDateFormat } from './status-dates.js';
import { parseTemplate, sourcesOf } from './template.js';
import { MIN_SHARE, type TemplateSource, hasUniqueCells } from './template-offers.js';

const WORD_COLUMNS = ['Status', 'Roles'];

/** Default names for files that were sent without a file name. */
const UNNAMED = ['upload.csv', 'stdin.csv'];

/** Part of a file name that changes with every export: a date, a time or a long number. */
const CHANGING = /(?<!\p{L})\d+(?:[._T -]\d+)+|\d{4,}(?:[._T -]\d+)*/gu;

/** Matches the name of a column with the last day of a person in the organisation. */
const LAST_DAY =
  /austritt|ausscheide|entlass|vertragsende|^exit([ _-]?(date|day))?$|\bterminat|leaving|contract[ _-]?end|end[ _-]of[ _-]contract|last[ _-]?(working[ _-]?)?day$|date de sortie|fecha de baja/i;
const NOT_LAST_DAY = /probation|probe|visa|interview|notice|exam|certificate|vacation|trial/i;

/** Characters that occur in both Manager and ExternalId if Manager contains external ids, which also have a usual length. */
const ID_SIGNS = [/\s/, /@/, /\d/];

/** Properties of a file that a preview has detected. */
interface DetectedFile {
  fileName: string;
  columns: readonly PreviewColumnDto[];
  sources: readonly TemplateSource[];
  templates: readonly PreviewTemplateDto[];
  words: readonly PreviewWordsDto[];
  /** Encoding, delimiter and skipped lines with which the preview has read the file. */
  reading: Partial<ImportProfile>;
}

/**
 * Builds a profile that reads the file and can be saved, from the requested profile and options. Returns null if the
 * file has no columns that could identify users.
 */
export function suggestProfile(
  { options, profile }: ImportRequest,
  found: DetectedFile,
  settings: UserSettings,
): ImportProfile | null {
  const { name: _, id: __, ...base } = profile ?? {};
  const { columns, sources, templates, words, fileName, reading } = found;
  const manager = findManagerKey(sources);
  const set = Object.fromEntries(
    templates.toReversed().map(({ column, template }) => [column, template] as const),
  );
  const mapped = mapColumns(columns, words.filter(isUnderstood), manager !== undefined);
  const hasStatus = Object.values(mapped).includes('Status');
  const lastDay = profile || hasStatus ? undefined : findLastDay(sources);
  const inputs = [
    ...Object.values(set).flatMap((template) => sourcesOf(parseTemplate(template))),
    ...(lastDay ? [lastDay.active_until] : []),
  ];
  // A column that only templates use is not listed.
  const listed = Object.entries(mapped).filter(
    ([source, target]) => target !== IGNORED || !inputs.includes(source.trim()),
  );
  const used = words.filter(({ source }) => mapped[source] !== IGNORED);
  const values = Object.fromEntries(used.map((each) => [each.source, listTranslations(each.words)]));
  const document: JsonObject = {
    ...(profile ? {} : deriveNames(fileName)),
    ...base,
    ...listChangedOptions(options),
    ...reading,
    ...(columns.some(({ source, use }) => use === 'unknown' && !isListable(source)) && {
      ignore_unknown_columns: true,
    }),
    ...(!profile && manager),
    ...lastDay,
    columns: { ...Object.fromEntries(listed), ...profile?.columns },
    set: { ...set, ...profile?.set },
    values: { ...values, ...profile?.values },
  };
  const checked = checkProfile(document, settings);
  return checked.errors.length === 0 ? checked.profile : null;
}

/**
 * Maps every source column that no template uses. Ignores suggested columns that occur twice, or whose cells are not
 * understood.
 */
function mapColumns(
  columns: readonly PreviewColumnDto[],
  understood: readonly PreviewWordsDto[],
  hasManagers: boolean,
): Record<string, string> {
  const keys = Map.groupBy(columns, ({ source }) => toHeaderKey(source));
  const isUsable = ({ source, suggestion }: PreviewColumnDto): boolean => {
    if ((keys.get(toHeaderKey(source))?.length ?? 0) > 1) return false;
    if (suggestion === 'Manager') return hasManagers;
    return !WORD_COLUMNS.includes(suggestion ?? '') || understood.some((each) => each.source === source);
  };
  return Object.fromEntries(
    columns
      .filter(({ use, source }) => use !== 'template' && isListable(source))
      .map((each) => [each.source, each.column ?? (isUsable(each) ? each.suggestion : null) ?? IGNORED]),
  );
}

/** Returns true if a column can be imported: most of its words are roles, or at least one is a status. */
function isUnderstood({ column, words }: PreviewWordsDto): boolean {
  const countRows = (some: PreviewWordsDto['words']) => some.reduce((sum, { rows }) => sum + rows, 0);
  const known = words.filter(isKnown);
  return column === 'Roles' ? countRows(known) >= MIN_SHARE * countRows(words) : known.length > 0;
}

const isKnown = ({ meaning, suggestion }: PreviewWordsDto['words'][number]): boolean =>
  (meaning ?? suggestion) !== null;

function listTranslations(words: PreviewWordsDto['words']): Record<string, string> {
  const known = words.map(({ word, meaning, suggestion }) => [word, meaning ?? suggestion ?? word] as const);
  return Object.fromEntries(known.filter(([word, meaning]) => meaning !== word));
}

/**
 * Finds the column by which Manager identifies a manager, as `manager_key`. Returns an empty object if Manager contains
 * external ids, and undefined if Manager cannot be imported.
 */
function findManagerKey(sources: readonly TemplateSource[]): JsonObject | undefined {
  const managers = listFilled(sources.find(({ target }) => target === 'Manager')?.cells ?? []);
  const countListedManagers = ({ cells }: TemplateSource): number => {
    const listed = new Set(cells);
    return managers.filter((cell) => listed.has(cell)).length;
  };
  const [best] = sources
    .filter(({ target, cells }) => target === 'ExternalId' || (target !== 'Manager' && hasUniqueCells(cells)))
    .toSorted((a, b) => countListedManagers(b) - countListedManagers(a));
  const ids = sources.find(({ target }) => target === 'ExternalId')?.cells ?? [];
  const hasSign = (sign: RegExp, [cell = '']: readonly string[]): boolean => sign.test(cell);
  const lengths = new Set(ids.map(({ length }) => length));
  const isId =
    ID_SIGNS.every((sign) => hasSign(sign, ids) === hasSign(sign, managers)) &&
    managers.some(({ length }) => lengths.has(length));
  if (!best || countListedManagers(best) === 0 || best.target === 'ExternalId') return isId ? {} : undefined;
  return { manager_key: best.name };
}

/** Finds the only column with the last day of each person, and its date format. */
function findLastDay(sources: readonly TemplateSource[]) {
  const isLastDay = ({ name, target }: TemplateSource): boolean =>
    target === undefined && LAST_DAY.test(name.trim()) && !NOT_LAST_DAY.test(name) && isListable(name);
  const isUnique = ({ name }: TemplateSource): boolean =>
    sources.filter((each) => toHeaderKey(each.name) === toHeaderKey(name)).length === 1;
  const found = sources
    .filter((source) => isLastDay(source) && isUnique(source))
    .flatMap(({ name, cells }) => {
      const format = findDateFormat(listFilled(cells));
      return format === undefined ? [] : { active_until: name.trim(), date_format: format };
    });
  return found.length === 1 ? found[0] : undefined;
}

const isListable = (source: string): boolean =>
  toHeaderKey(source) !== '' && source.length <= MAX_VALUE_LENGTH && isCleanText(source);

/** Returns the options that differ from their defaults, without supervised options. */
function listChangedOptions(options: ImportOptions): JsonObject {
  const unchanged: JsonObject = Object.fromEntries(Object.entries(new ImportOptions()));
  for (const name of SUPERVISED) unchanged[name] = options[name];
  return Object.fromEntries(Object.entries(options).filter(([name, value]) => value !== unchanged[name]));
}

/** Derives the data set and the pattern from the name of the file. */
function deriveNames(fileName: string): JsonObject {
  const pattern = fileName.replace(CHANGING, '*');
  const letters = toNormalForm(pattern.toLowerCase(), 'NFKD').replace(/\.[^.]*$|\p{M}/gu, '');
  const dataset = letters
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 64)
    .replace(/^-|-$/g, '');
  return UNNAMED.includes(fileName) || ['', MANAGED_BY_SCIM].includes(dataset) ? {} : { dataset, pattern };
}
