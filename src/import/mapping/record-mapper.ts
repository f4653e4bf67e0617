import { escapeFormula, unescapeFormula } from '../../platform/common/csv.js';
import { replaceHidden, truncate } from '../../platform/common/text.js';
import { COLUMNS, STATUS, type Column, findColumn, toHeaderKey, isPasswordHeader } from '../file/columns.js';
import type { FileErrorCode, FileErrorDetails } from '../file/file-error.js';
import type { CsvRecord, DamagedCell } from '../file/record-parser.js';
import type { ImportOptions } from '../runs/import-options.js';
import { IGNORED, type NamedProfile } from '../runs/import-profile.js';
import { StatusDates } from './status-dates.js';
import { UnlistedWords } from './unlisted-words.js';
import { FUNCTION_NAMES } from './template-functions.js';
import { listPlaceholders, parseTemplate, renderTemplate, sourcesOf, splitOffFunction } from './template.js';

/** Source value that stands for all unlisted values except blank ones. */
const ANY_OTHER = '*';

/** Maps the comparison key of a source value to the imported value. */
type Translations = ReadonlyMap<string, string>;

/** Returns the comparison key of a source value. It ignores case and surrounding spaces. */
export const toValueKey = (word: string): string => word.trim().toLowerCase();

export function toTranslations(words: Readonly<Record<string, string>>): Translations {
  return new Map(Object.entries(words).map(([word, meaning]) => [toValueKey(word), meaning]));
}

export const hasAnyOther = (profile: NamedProfile | null): boolean =>
  Object.values(profile?.values ?? {}).some((words) => ANY_OTHER in words);

/**
 * Translates a cell, or each role in a list of roles. Values without a translation stay unchanged.
 * @param onAnyOther receives the key of each word that only `*` matches.
 */
function translate(
  cell: string,
  values: Translations,
  { kind }: Column,
  onAnyOther: (word: string) => void,
): string {
  const translateWord = (word: string): string => {
    const key = toValueKey(word);
    const listed = values.get(key);
    if (listed !== undefined || key === '') return listed ?? word;
    const other = values.get(ANY_OTHER);
    if (other !== undefined) onAnyOther(key);
    return other ?? word;
  };
  return kind === 'roles' ? cell.split(/[;|]/).map(translateWord).join(';') : translateWord(cell);
}

/**
 * Combines several status cells into one. `Blocked` takes precedence over an invalid status, and an invalid status over
 * `Active`.
 */
export function combineStatuses(cells: readonly string[]): string {
  const filled = cells.filter((cell) => cell.trim() !== '');
  const toTest = (status: string) => (cell: string) => toValueKey(cell) === status;
  return filled.find(toTest('blocked')) ?? filled.find((cell) => !toTest('active')(cell)) ?? filled[0] ?? '';
}

export const quote = (name: string): string => `"${truncate(replaceHidden(name), 100)}"`;

/** Fields of a profile that name one source column. */
export const SOURCE_FIELDS = ['active_from', 'active_until', 'manager_key'] as const;

type CellBuilder = (cells: readonly string[]) => string;

/** Removes the `strip_prefix` of the profile, or an apostrophe that disables a formula, from the start of a cell. */
export function toPlainCell({ strip_prefix: prefix }: NamedProfile, cell: string): string {
  if (prefix === undefined) return unescapeFormula(cell);
  if (cell.startsWith(prefix)) return cell.slice(prefix.length);
  const plain = unescapeFormula(cell);
  // `failed.csv` puts an apostrophe before a prefix that looks like a formula, so remove both.
  return plain !== cell && plain.startsWith(prefix) ? plain.slice(prefix.length) : plain;
}

/**
 * Returns a function that returns true for the names of the columns that a profile reads. The function helps to detect
 * the delimiter of a file.
 */
export function createColumnTest(profile: NamedProfile): (name: string) => boolean {
  const templates = Object.values(profile.set ?? {}).map(parseTemplate);
  const single = SOURCE_FIELDS.flatMap((field) => profile[field] ?? []);
  const names = [...Object.keys(profile.columns), ...templates.flatMap(sourcesOf), ...single];
  const keys = new Set(names.map(toHeaderKey));
  return (name) => keys.has(toHeaderKey(toPlainCell(profile, name)));
}

export interface HeaderOptions extends Pick<ImportOptions, 'ignore_unknown_columns'> {
  /** Day of the run as `YYYY-MM-DD`, for the dates of the profile. */
  today: string;
}

/**
 * Maps the records of a source file to the import columns. Finds the source columns by their names, and collects errors
 * in the header.
 */
export class RecordMapper {
  /** Import columns that the file or the profile fills, in the order of the template file. */
  readonly columns: readonly Column[];
  /** Maps the index of a source column to the import column that it fills. */
  readonly targets = new Map<number, Column>();
  /** Indexes of source columns that templates use. */
  readonly inputs = new Set<number>();
  /** Indexes of source columns that the profile ignores, that `failed.csv` added, or that may contain passwords. */
  readonly ignored: ReadonlySet<number>;
  readonly errors: FileErrorDetails[] = [];
  private readonly names: readonly string[];
  private readonly indexes: ReadonlyMap<string, readonly number[]>;
  private readonly values: ReadonlyMap<string, Translations>;
  private readonly builders: readonly CellBuilder[];
  readonly words = new UnlistedWords();
  /** Line of the record that is mapped, for `words`. */
  private line = 0;
  /** Index of each source column that a field of the profile names. */
  private readonly named: Readonly<Partial<Record<(typeof SOURCE_FIELDS)[number], number>>>;
  private readonly dates: StatusDates | undefined;
  readonly mapCells = (cells: readonly string[]): string[] => this.builders.map((build) => build(cells));

  /** @param ignoresUnknown true to allow unknown columns. Overrides the profile. */
  constructor(
    private readonly profile: NamedProfile,
    header: readonly string[],
    { ignore_unknown_columns: ignoresUnknown, today }: HeaderOptions,
  ) {
    this.names = header.map((name) => toPlainCell(profile, name));
    const keys = this.names.map(toHeaderKey);
    this.indexes = Map.groupBy(keys.keys(), (index) => keys[index] ?? '');
    const values = Object.entries(profile.values ?? {});
    this.values = new Map(values.map(([name, words]) => [toHeaderKey(name), toTranslations(words)]));
    const builders = new Map([...this.createColumnBuilders(), ...this.createTemplateBuilders()]);
    this.named = Object.fromEntries(SOURCE_FIELDS.map((field) => [field, this.findNamedIndex(field)]));
    if (profile.active_from !== undefined || profile.active_until !== undefined) {
      this.dates = new StatusDates(profile, today);
      const other = builders.get(STATUS);
      builders.set(STATUS, (cells) =>
        escapeFormula(combineStatuses([this.evaluateDates(cells), unescapeFormula(other?.(cells) ?? '')])),
      );
    }
    this.columns = COLUMNS.filter((column) => builders.has(column));
    this.builders = this.columns.flatMap((column) => builders.get(column) ?? []);
    this.ignored = this.findIgnoredColumns();
    this.checkHeader(ignoresUnknown);
  }

  /**
   * Maps a record to the import columns. In a mismatched record, only the ExternalId is mapped, and `alignments` contains
   * the two possible mappings.
   */
  readonly mapRecord = (record: CsvRecord): CsvRecord => {
    const { cells, expectedCells, line } = record;
    this.line = line;
    if (expectedCells === undefined) {
      const { manager_key: key } = this.named;
      const error = this.findDateError(cells);
      return {
        ...record,
        cells: this.mapCells(cells),
        sourceCells: cells,
        ...(key !== undefined && { managerKey: this.readCell(cells, key) }),
        ...(error && { damaged: [error] }),
      };
    }
    const surplus = cells.length - expectedCells;
    const fromRight = surplus > 0 ? cells.slice(surplus) : [...Array<string>(-surplus).fill(''), ...cells];
    const alignments = [cells, fromRight].map(this.mapCells);
    // The first import column is ExternalId.
    const externalId = alignments[0]?.[0] ?? '';
    return {
      ...record,
      cells: cells.map((_, at) => (at === 0 ? externalId : '')),
      alignments,
      sourceCells: cells,
    };
  };

  private readCell(cells: readonly string[], index: number | undefined): string {
    return index === undefined ? '' : toPlainCell(this.profile, cells[index] ?? '').trim();
  }

  private evaluateDates(cells: readonly string[]): string {
    const { active_from: from, active_until: until } = this.named;
    return this.dates?.evaluate(this.readCell(cells, from), this.readCell(cells, until)) ?? '';
  }

  private findDateError(cells: readonly string[]): DamagedCell | undefined {
    const status = this.evaluateDates(cells);
    if (!this.dates || status === 'Active' || status === 'Blocked') return undefined;
    const value = truncate(status, 200);
    const message = `is not a date in the format ${this.dates.format}`;
    return {
      column: STATUS,
      cell: status,
      error: { field: STATUS.field, code: 'invalid_format', message, value },
    };
  }

  /** Returns the index of the source column that a field of the profile names. */
  private findNamedIndex(field: (typeof SOURCE_FIELDS)[number]): number | undefined {
    const name = this.profile[field];
    if (name === undefined) return undefined;
    const index = this.findIndex(name);
    const message = `The file has no column ${quote(name)}, which the profile ${this.profile.name} names in ${field}.`;
    if (index === undefined) this.addError('missing_column', message);
    else this.inputs.add(index);
    return index;
  }

  private createColumnBuilders(): [Column, CellBuilder][] {
    const byColumn = new Map<Column, [name: string, index: number][]>();
    for (const [name, target] of Object.entries(this.profile.columns)) {
      const column = target === IGNORED ? undefined : findColumn(target);
      const index = column && this.findIndex(name);
      if (!column || index === undefined) continue;
      byColumn.set(column, [...(byColumn.get(column) ?? []), [name, index]]);
      this.targets.set(index, column);
    }
    return [...byColumn].map(([column, sources]) => [column, this.createColumnBuilder(column, sources)]);
  }

  private createTemplateBuilders(): [Column, CellBuilder][] {
    return Object.entries(this.profile.set ?? {}).flatMap(([name, text]): [Column, CellBuilder][] => {
      const column = findColumn(name);
      return column ? [[column, this.createTemplateBuilder(column, text)]] : [];
    });
  }

  private findIndex(name: string): number | undefined {
    const [index, ...more] = this.indexes.get(toHeaderKey(name)) ?? [];
    if (more.length > 0)
      this.addError(
        'duplicate_column',
        `The file has the column ${quote(name)} ${more.length + 1} times. Keep only one.`,
      );
    return index;
  }

  private createColumnBuilder(
    column: Column,
    sources: readonly [name: string, index: number][],
  ): CellBuilder {
    const builders = sources.map(([name, index]) => this.createCopyBuilder(column, name, index));
    const [only] = builders;
    if (only && builders.length === 1) return only;
    if (column.field === 'status') return (cells) => combineStatuses(builders.map((build) => build(cells)));
    const listed = sources.map(([name]) => quote(name)).join(' and ');
    const message = `The columns ${listed} both mean ${column.name} in the profile ${this.profile.name}. Remove one of them.`;
    this.addError('duplicate_column', message);
    return only ?? (() => '');
  }

  private createTemplateBuilder(column: Column, text: string): CellBuilder {
    const template = parseTemplate(text);
    for (const name of sourcesOf(template))
      for (const index of this.indexes.get(toHeaderKey(name)) ?? []) this.inputs.add(index);
    const indexes = new Map(sourcesOf(template).map((name) => [name, this.findIndex(name)]));
    for (const { columns } of listPlaceholders(template)) {
      if (columns.some((name) => indexes.get(name) !== undefined)) continue;
      const listed = columns.map(quote).join(' or ');
      const message = `The file has no column ${listed}, from which the profile ${this.profile.name} builds ${column.name}.${this.formatFunctionHint(columns)}`;
      this.addError('missing_column', message);
    }
    const toImported = this.createTranslator(column, column.name);
    return (cells) =>
      toImported(
        renderTemplate(template, (name) => toPlainCell(this.profile, cells[indexes.get(name) ?? -1] ?? '')),
      );
  }

  /**
   * Returns a hint for a name such as `Surname:upper` if the file has a column `Surname`. The user probably meant
   * `upper` as a function.
   */
  private formatFunctionHint(names: readonly string[]): string {
    const meant = names.map(splitOffFunction);
    const found = meant.find(({ columns }) => columns.some((name) => this.indexes.has(toHeaderKey(name))));
    return found ? ` ${quote(found.name)} is not a function. The functions are ${FUNCTION_NAMES}.` : '';
  }

  private findIgnoredColumns(): Set<number> {
    const listed = Object.entries(this.profile.columns).filter(([, to]) => findColumn(to) === undefined);
    const keys = new Set(listed.map(([name]) => toHeaderKey(name)));
    // A column that the profile reads is not ignored, so that `failed.csv` contains it.
    const isRead = (index: number): boolean => this.targets.has(index) || this.inputs.has(index);
    const isIgnored = (name: string, index: number): boolean =>
      isPasswordHeader(name) ||
      (!isRead(index) && (keys.has(toHeaderKey(name)) || name.trim().startsWith('_')));
    return new Set(this.names.flatMap((name, index) => (isIgnored(name, index) ? [index] : [])));
  }

  private checkHeader(ignoresUnknown: boolean): void {
    const [externalId] = COLUMNS;
    if (externalId && this.columns[0] !== externalId) {
      const expected = Object.entries(this.profile.columns).flatMap(([name, target]) =>
        findColumn(target) === externalId ? [quote(name)] : [],
      );
      const message = `The header has no column ${expected.join(' or ')}, which the profile ${this.profile.name} maps to ExternalId. Add this column.`;
      this.addError('missing_column', message);
    }
    if (ignoresUnknown) return;
    for (const [index, name] of this.names.entries()) {
      if (this.targets.has(index) || this.inputs.has(index) || this.ignored.has(index)) continue;
      const message = `The profile ${this.profile.name} does not list the column ${quote(name)}. Add it to the columns of the profile. If it is not needed, ignore it.`;
      this.addError('unknown_column', message);
    }
  }

  private createCopyBuilder(column: Column, name: string, index: number): CellBuilder {
    const toImported = this.createTranslator(column, name);
    // A cell that is neither translated nor stripped is unchanged.
    if (toImported === escapeFormula && this.profile.strip_prefix === undefined)
      return (cells) => cells[index] ?? '';
    return (cells) => toImported(toPlainCell(this.profile, cells[index] ?? ''));
  }

  /** Creates a function that translates a value of a source column and disables formulas. */
  private createTranslator(column: Column, source: string): (value: string) => string {
    const values = this.values.get(toHeaderKey(source)) ?? this.values.get(toHeaderKey(column.name));
    if (!values) return escapeFormula;
    const addWord = (word: string) => {
      this.words.add(source, word, this.line);
    };
    return (value) => escapeFormula(translate(value, values, column, addWord));
  }

  private addError(code: FileErrorCode, message: string): void {
    if (!this.errors.some((fault) => fault.message === message)) this.errors.push({ code, message });
  }
}
