import { escapeFormula, unescapeFormula } from '../../platform/common/csv.js';
import { truncated } from '../../platform/common/text.js';
import { COLUMNS, type Column, columnOf, headerKey, mayHoldPassword } from '../file/columns.js';
import { type ImportOptions, IGNORE, type NamedProfile } from '../runs/import-options.js';
import { FUNCTION_NAMES, asFunction, columnsOf, parseTemplate, render } from './template.js';

/** Any other word that is not blank. */
const OTHERS = '*';

/** The words of a source and what they mean, by the form in which they are compared. */
type CellValues = ReadonlyMap<string, string>;

/** Words are compared in any case, and without spaces around them. */
export const wordKey = (word: string): string => word.trim().toLowerCase();

function cellValues(words: Readonly<Record<string, string>>): CellValues {
  return new Map(Object.entries(words).map(([word, meaning]) => [wordKey(word), meaning]));
}

/** What a cell means; of a list of roles, each role. A word that is not listed stays as it is. */
function translated(cell: string, values: CellValues, { kind }: Column): string {
  const meaning = (word: string): string => {
    const key = wordKey(word);
    return values.get(key) ?? (key === '' ? undefined : values.get(OTHERS)) ?? word;
  };
  return kind === 'roles' ? cell.split(/[;|]/).map(meaning).join(';') : meaning(cell);
}

/**
 * The status of a user whose source says it in several places: `Blocked` wins, then a word that is no status, which the
 * rules of the row refuse, then `Active`.
 */
export function combinedStatus(cells: readonly string[]): string {
  const filled = cells.filter((cell) => cell.trim() !== '');
  const is = (status: string) => (cell: string) => wordKey(cell) === status;
  return filled.find(is('blocked')) ?? filled.find((cell) => !is('active')(cell)) ?? filled[0] ?? '';
}

const quoted = (name: string): string => `"${truncated(name, 100)}"`;

/** What is wrong with the header of a file. */
interface HeaderFault {
  code: 'missing_column' | 'unknown_column' | 'duplicate_column';
  message: string;
}

/** How a cell of ours is made of the cells of a record, which are as the file has them. */
type Maker = (cells: readonly string[]) => string;

/** The plain text of a cell: without the prefix of the source, or the sign that stops formulas. */
export function plainCell({ strip_prefix: prefix }: NamedProfile, cell: string): string {
  if (prefix === undefined) return unescapeFormula(cell);
  if (cell.startsWith(prefix)) return cell.slice(prefix.length);
  const plain = unescapeFormula(cell);
  // A file of ours escapes a prefix that is the sign of a formula.
  return plain !== cell && plain.startsWith(prefix) ? plain.slice(prefix.length) : plain;
}

/** Whether a profile says what a column of this name is: by that the delimiter is found. */
export function readsColumn(profile: NamedProfile): (name: string) => boolean {
  const templates = Object.values(profile.set ?? {}).map(parseTemplate);
  const names = [...Object.keys(profile.columns), ...templates.flatMap(columnsOf)];
  const keys = new Set(names.map(headerKey));
  return (name) => keys.has(headerKey(plainCell(profile, name)));
}

/**
 * Turns the records of a source into records of our columns, so that everything after the reader sees our header. Cells of
 * other columns are dropped here. Finds the columns of a file by their names, and collects what is wrong with them.
 */
export class RecordMapper {
  /** The columns of ours that the file fills, in the order of the template. */
  readonly columns: readonly Column[];
  /** The columns of ours that a column of the source fills alone or with others, by its place. */
  readonly filledBy = new Map<number, Column>();
  /** Places of columns that templates read. */
  readonly read = new Set<number>();
  /** Places of columns that the profile ignores, that are those of `failed.csv`, or that may hold passwords. */
  readonly ignored: ReadonlySet<number>;
  readonly faults: HeaderFault[] = [];
  private readonly names: readonly string[];
  private readonly places = new Map<string, number[]>();
  private readonly values: ReadonlyMap<string, CellValues>;
  private readonly makers: readonly Maker[];
  /** The cells of our columns. */
  readonly cells = (cells: readonly string[]): string[] => this.makers.map((make) => make(cells));

  /** @param ignoresUnknown an option of the run: what was sent goes before the profile. */
  constructor(
    private readonly profile: NamedProfile,
    header: readonly string[],
    { ignore_unknown_columns: ignoresUnknown }: Pick<ImportOptions, 'ignore_unknown_columns'>,
  ) {
    this.names = header.map((name) => plainCell(profile, name));
    for (const [index, name] of this.names.entries()) {
      const key = headerKey(name);
      this.places.set(key, [...(this.places.get(key) ?? []), index]);
    }
    const values = Object.entries(profile.values ?? {});
    this.values = new Map(values.map(([name, words]) => [headerKey(name), cellValues(words)]));
    const makers = new Map([...this.copies(), ...this.templates()]);
    this.columns = COLUMNS.filter((column) => makers.has(column));
    this.makers = this.columns.flatMap((column) => makers.get(column) ?? []);
    this.ignored = this.findIgnored();
    this.check(ignoresUnknown);
  }

  /** The columns of ours that columns of the source fill. */
  private copies(): [Column, Maker][] {
    const byColumn = new Map<Column, [name: string, index: number][]>();
    for (const [name, target] of Object.entries(this.profile.columns)) {
      const column = target === IGNORE ? undefined : columnOf(target);
      const index = column && this.find(name);
      if (!column || index === undefined) continue;
      byColumn.set(column, [...(byColumn.get(column) ?? []), [name, index]]);
      this.filledBy.set(index, column);
    }
    return [...byColumn].map(([column, places]) => [column, this.maker(column, places)]);
  }

  /** The columns of ours that templates fill. */
  private templates(): [Column, Maker][] {
    return Object.entries(this.profile.set ?? {}).flatMap(([name, text]): [Column, Maker][] => {
      const column = columnOf(name);
      return column ? [[column, this.template(column, text)]] : [];
    });
  }

  /** The place of a column that the profile reads; undefined where the file has none of that name. */
  private find(name: string): number | undefined {
    const [index, ...more] = this.places.get(headerKey(name)) ?? [];
    if (more.length > 0)
      this.fault(
        'duplicate_column',
        `The file has the column ${quoted(name)} ${more.length + 1} times; leave one.`,
      );
    return index;
  }

  private maker(column: Column, places: readonly [name: string, index: number][]): Maker {
    const makers = places.map(([name, index]) => this.copy(column, name, index));
    const [only] = makers;
    if (only && makers.length === 1) return only;
    if (column.field === 'status') return (cells) => combinedStatus(makers.map((make) => make(cells)));
    const listed = places.map(([name]) => quoted(name)).join(' and ');
    this.fault(
      'duplicate_column',
      `The columns ${listed} both mean ${column.name} in the profile ${this.profile.name}; remove one of them.`,
    );
    return only ?? (() => '');
  }

  private template(column: Column, text: string): Maker {
    const template = parseTemplate(text);
    for (const name of columnsOf(template))
      for (const place of this.places.get(headerKey(name)) ?? []) this.read.add(place);
    const bound = template.flatMap((part) => {
      if (typeof part === 'string') return [];
      const found = part.columns.flatMap((name) => this.find(name) ?? []);
      if (found.length === 0) {
        const listed = part.columns.map(quoted).join(' or ');
        this.fault(
          'missing_column',
          `The file has no column ${listed}, of which the profile ${this.profile.name} makes ${column.name}${this.noFunction(part.columns)}.`,
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

  /** Returns a hint where the file has a column of the name before the colon, so that the rest was meant as a function. */
  private noFunction(names: readonly string[]): string {
    const meant = names.flatMap((name) => asFunction(name) ?? []);
    const found = meant.find(({ columns }) => columns.some((column) => this.places.has(headerKey(column))));
    return found ? `; ${quoted(found.name)} is no function: there are ${FUNCTION_NAMES}` : '';
  }

  private findIgnored(): Set<number> {
    const listed = Object.entries(this.profile.columns).filter(
      ([, target]) => columnOf(target) === undefined,
    );
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
        `The header has no column ${expected.join(' or ')}, which is ExternalId in the profile ${this.profile.name}.`,
      );
    }
    if (ignoresUnknown) return;
    for (const [index, name] of this.names.entries()) {
      if (this.filledBy.has(index) || this.read.has(index) || this.ignored.has(index)) continue;
      this.fault(
        'unknown_column',
        `The profile ${this.profile.name} does not say what the column ${quoted(name)} is; add it, as ignore if it is not needed.`,
      );
    }
  }

  /** The cell of one column. One that is neither translated nor stripped is not even looked at. */
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
