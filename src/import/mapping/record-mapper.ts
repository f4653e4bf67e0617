import { escapeFormula, unescapeFormula } from '../../platform/common/csv.js';
import { truncate } from '../../platform/common/text.js';
import { COLUMNS, type Column, columnOf, headerKey, mayHoldPassword } from '../file/columns.js';
import { type ImportOptions, IGNORED, type NamedProfile } from '../runs/import-options.js';
import { FUNCTION_NAMES, asFunction, columnsOf, parseTemplate, render } from './template.js';

/** Key for any other value that is not blank. */
const OTHERS = '*';

/** Import values by the comparison key of the source value. */
type CellValues = ReadonlyMap<string, string>;

/** Returns the comparison key of a value, which ignores case and surrounding spaces. */
export const wordKey = (word: string): string => word.trim().toLowerCase();

function cellValues(words: Readonly<Record<string, string>>): CellValues {
  return new Map(Object.entries(words).map(([word, meaning]) => [wordKey(word), meaning]));
}

/** Translates a cell, or each role in a list of roles. Values that are not listed stay as they are. */
function translated(cell: string, values: CellValues, { kind }: Column): string {
  const meaning = (word: string): string => {
    const key = wordKey(word);
    return values.get(key) ?? (key === '' ? undefined : values.get(OTHERS)) ?? word;
  };
  return kind === 'roles' ? cell.split(/[;|]/).map(meaning).join(';') : meaning(cell);
}

/**
 * Combines the cells of several status columns. `Blocked` wins, then an invalid status, which the rules for rows reject, then
 * `Active`.
 */
export function combinedStatus(cells: readonly string[]): string {
  const filled = cells.filter((cell) => cell.trim() !== '');
  const is = (status: string) => (cell: string) => wordKey(cell) === status;
  return filled.find(is('blocked')) ?? filled.find((cell) => !is('active')(cell)) ?? filled[0] ?? '';
}

const quoted = (name: string): string => `"${truncate(name, 100)}"`;

/** An error in the header of a file. */
interface HeaderFault {
  code: 'missing_column' | 'unknown_column' | 'duplicate_column';
  message: string;
}

/** Builds a cell of an import column from the original cells of a record. */
type Maker = (cells: readonly string[]) => string;

/** Returns the text of a cell without the prefix of the profile or the sign that disables formulas. */
export function plainCell({ strip_prefix: prefix }: NamedProfile, cell: string): string {
  if (prefix === undefined) return unescapeFormula(cell);
  if (cell.startsWith(prefix)) return cell.slice(prefix.length);
  const plain = unescapeFormula(cell);
  // Files that this service writes escape a prefix that looks like the start of a formula.
  return plain !== cell && plain.startsWith(prefix) ? plain.slice(prefix.length) : plain;
}

/** Returns a predicate for the column names that a profile reads. The delimiter is detected by these names. */
export function readsColumn(profile: NamedProfile): (name: string) => boolean {
  const templates = Object.values(profile.set ?? {}).map(parseTemplate);
  const names = [...Object.keys(profile.columns), ...templates.flatMap(columnsOf)];
  const keys = new Set(names.map(headerKey));
  return (name) => keys.has(headerKey(plainCell(profile, name)));
}

/**
 * Mapper from the records of a source to the import columns, which drops the cells of all other columns. It finds the source
 * columns by name and collects the errors of the header.
 */
export class RecordMapper {
  /** Import columns that the file fills, in the order of the template. */
  readonly columns: readonly Column[];
  /** Import column that a source column fills, alone or with others, by the index of the source column. */
  readonly filledBy = new Map<number, Column>();
  /** Indexes of source columns that templates read. */
  readonly read = new Set<number>();
  /** Indexes of source columns that the profile ignores, that `failed.csv` added, or that may contain passwords. */
  readonly ignored: ReadonlySet<number>;
  readonly faults: HeaderFault[] = [];
  private readonly names: readonly string[];
  private readonly indexes = new Map<string, number[]>();
  private readonly values: ReadonlyMap<string, CellValues>;
  private readonly makers: readonly Maker[];
  /** Maps the cells of a record to the cells of `columns`. */
  readonly cells = (cells: readonly string[]): string[] => this.makers.map((make) => make(cells));

  /** @param ignoresUnknown the option of the run, which overrides the option of the profile. */
  constructor(
    private readonly profile: NamedProfile,
    header: readonly string[],
    { ignore_unknown_columns: ignoresUnknown }: Pick<ImportOptions, 'ignore_unknown_columns'>,
  ) {
    this.names = header.map((name) => plainCell(profile, name));
    for (const [index, name] of this.names.entries()) {
      const key = headerKey(name);
      this.indexes.set(key, [...(this.indexes.get(key) ?? []), index]);
    }
    const values = Object.entries(profile.values ?? {});
    this.values = new Map(values.map(([name, words]) => [headerKey(name), cellValues(words)]));
    const makers = new Map([...this.copies(), ...this.templates()]);
    this.columns = COLUMNS.filter((column) => makers.has(column));
    this.makers = this.columns.flatMap((column) => makers.get(column) ?? []);
    this.ignored = this.findIgnored();
    this.check(ignoresUnknown);
  }

  /** Returns the builders of import columns that source columns fill. */
  private copies(): [Column, Maker][] {
    const byColumn = new Map<Column, [name: string, index: number][]>();
    for (const [name, target] of Object.entries(this.profile.columns)) {
      const column = target === IGNORED ? undefined : columnOf(target);
      const index = column && this.find(name);
      if (!column || index === undefined) continue;
      byColumn.set(column, [...(byColumn.get(column) ?? []), [name, index]]);
      this.filledBy.set(index, column);
    }
    return [...byColumn].map(([column, sources]) => [column, this.maker(column, sources)]);
  }

  /** Returns the builders of import columns that templates fill. */
  private templates(): [Column, Maker][] {
    return Object.entries(this.profile.set ?? {}).flatMap(([name, text]): [Column, Maker][] => {
      const column = columnOf(name);
      return column ? [[column, this.buildTemplate(column, text)]] : [];
    });
  }

  /** Returns the index of a source column, or undefined if the file lacks it. Reports a repeated column. */
  private find(name: string): number | undefined {
    const [index, ...more] = this.indexes.get(headerKey(name)) ?? [];
    if (more.length > 0)
      this.fault(
        'duplicate_column',
        `The file has the column ${quoted(name)} ${more.length + 1} times. Keep only one.`,
      );
    return index;
  }

  private maker(column: Column, sources: readonly [name: string, index: number][]): Maker {
    const makers = sources.map(([name, index]) => this.copy(column, name, index));
    const [only] = makers;
    if (only && makers.length === 1) return only;
    if (column.field === 'status') return (cells) => combinedStatus(makers.map((make) => make(cells)));
    const listed = sources.map(([name]) => quoted(name)).join(' and ');
    this.fault(
      'duplicate_column',
      `The columns ${listed} both mean ${column.name} in the profile ${this.profile.name}. Remove one of them.`,
    );
    return only ?? (() => '');
  }

  private buildTemplate(column: Column, text: string): Maker {
    const template = parseTemplate(text);
    for (const name of columnsOf(template))
      for (const index of this.indexes.get(headerKey(name)) ?? []) this.read.add(index);
    const bound = template.flatMap((part) => {
      if (typeof part === 'string') return [];
      const found = part.columns.flatMap((name) => this.find(name) ?? []);
      if (found.length === 0) {
        const listed = part.columns.map(quoted).join(' or ');
        this.fault(
          'missing_column',
          `The file has no column ${listed}, from which the profile ${this.profile.name} builds ${column.name}.${this.noFunction(part.columns)}`,
        );
      }
      return [found];
    });
    const values = this.values.get(headerKey(column.name));
    return (cells) => {
      const made = render(template, bound, (index) => plainCell(this.profile, cells[index] ?? ''));
      return escapeFormula(values ? translated(made, values, column) : made);
    };
  }

  /** Returns a hint if the file has a column with the name before a colon, so that the rest was meant as a function. */
  private noFunction(names: readonly string[]): string {
    const meant = names.flatMap((name) => asFunction(name) ?? []);
    const found = meant.find(({ columns }) => columns.some((column) => this.indexes.has(headerKey(column))));
    return found ? ` ${quoted(found.name)} is not a function. The functions are ${FUNCTION_NAMES}.` : '';
  }

  private findIgnored(): Set<number> {
    const listed = Object.entries(this.profile.columns).filter(([, to]) => columnOf(to) === undefined);
    const keys = new Set(listed.map(([name]) => headerKey(name)));
    const isIgnored = (name: string): boolean =>
      keys.has(headerKey(name)) || name.trim().startsWith('_') || mayHoldPassword(name);
    return new Set(this.names.flatMap((name, index) => (isIgnored(name) ? [index] : [])));
  }

  private check(ignoresUnknown: boolean): void {
    const [externalId] = COLUMNS;
    if (externalId && this.columns[0] !== externalId) {
      const expected = Object.entries(this.profile.columns).flatMap(([name, target]) =>
        columnOf(target) === externalId ? [quoted(name)] : [],
      );
      this.fault(
        'missing_column',
        `The header has no column ${expected.join(' or ')}, which is ExternalId in the profile ${this.profile.name}. Add this column.`,
      );
    }
    if (ignoresUnknown) return;
    for (const [index, name] of this.names.entries()) {
      if (this.filledBy.has(index) || this.read.has(index) || this.ignored.has(index)) continue;
      this.fault(
        'unknown_column',
        `The profile ${this.profile.name} does not list the column ${quoted(name)}. Add it to the profile, as ignore if it is not needed.`,
      );
    }
  }

  /** Returns the builder of one import column from one source column. Without translation and prefix, cells are copied. */
  private copy(column: Column, name: string, index: number): Maker {
    const { profile } = this;
    const values = this.values.get(headerKey(name)) ?? this.values.get(headerKey(column.name));
    if (values) {
      return (cells) => escapeFormula(translated(plainCell(profile, cells[index] ?? ''), values, column));
    }
    if (profile.strip_prefix === undefined) return (cells) => cells[index] ?? '';
    return (cells) => escapeFormula(plainCell(profile, cells[index] ?? ''));
  }

  private fault(code: HeaderFault['code'], message: string): void {
    if (!this.faults.some((fault) => fault.message === message)) this.faults.push({ code, message });
  }
}
