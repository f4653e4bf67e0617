/** Piece of a template that inserts the first of its columns that is not blank, converted by the functions. */
interface ColumnPiece {
  columns: readonly string[];
  /** Functions with their arguments: `lower`, `pad:6`. */
  functions: readonly string[];
}

export type Piece = string | ColumnPiece;

/** The piece ` || ` of a template: the pieces after it apply if the pieces before it are blank. */
export const FALLBACK: ColumnPiece = { columns: [], functions: [] };

/** Functions of templates in the order in which they are applied, with the initial value of their argument, if any. */
export const FUNCTIONS: Readonly<Record<string, { text: string; argument?: string }>> = {
  before: { text: 'the part before', argument: ',' },
  after: { text: 'the part after', argument: ',' },
  digits: { text: 'digits only' },
  trim: { text: 'without spaces at the ends' },
  german: { text: 'ä as ae' },
  ascii: { text: 'without accents' },
  lower: { text: 'lower case' },
  upper: { text: 'upper case' },
  title: { text: 'words capitalized' },
  pad: { text: 'leading zeros, up to a length of', argument: '6' },
  unique: { text: 'numbered if the name is taken' },
};

/** Splits `pad:6` into the name and the argument of a function. */
export function parseFunction(text: string): { name: string; argument?: string } {
  const [name = '', ...argument] = text.split(':');
  return FUNCTIONS[name]?.argument === undefined ? { name } : { name, argument: argument.join(':') };
}

const escape = (text: string): string => text.replace(/[\\{}|:]/g, '\\$&');
const unescape = (text: string): string => text.replace(/\\([^])/g, '$1');

/** Moves the function `unique` to the column at the end of a template, the only place where it is valid. */
export const moveUnique = (template: string): string =>
  template.replace(/(?<!\\):unique(\}.+)(?<!\\)\}$/, '$1:unique}');

export const formatTemplate = (pieces: readonly Piece[]): string =>
  moveUnique(
    pieces
      .map((piece) => {
        if (piece === FALLBACK) return ' || ';
        if (typeof piece === 'string') return piece.replace(/[\\{}|]/g, '\\$&');
        const functions = piece.functions.map((each) => {
          const { name, argument } = parseFunction(each);
          return `:${name}${argument === undefined ? '' : `:${escape(argument)}`}`;
        });
        return `{${piece.columns.map(escape).join('|')}${functions.join('')}}`;
      })
      .join(''),
  );

/** Returns a template that inserts the first column that is not blank. */
export const formatColumns = (columns: readonly string[]): string =>
  columns.length === 0 ? '' : formatTemplate([{ columns, functions: [] }]);

/** Splits a template into its pieces. @returns undefined for an invalid template. */
export function parseTemplate(template: string): Piece[] | undefined {
  const pieces: Piece[] = [];
  const matches = template.matchAll(
    /( ?\|\| ?)|\{((?:\\[^]|[^\\{}])*)\}|((?:\\[^]|(?! ?\|\|)[^\\{}])+)|[^]/g,
  );
  for (const [, fallback, braces, text] of matches) {
    const piece = fallback ? FALLBACK : braces === undefined ? text && unescape(text) : parseColumns(braces);
    if (!piece) return undefined; // a single brace or backslash
    pieces.push(piece);
  }
  return pieces;
}

/** Splits a text at a character that is not escaped. */
const splitAt = (text: string, separator: string): string[] =>
  [...text.matchAll(new RegExp(`(?:^|\\${separator})((?:\\\\[^]|[^\\\\${separator}])*)`, 'g'))].map(
    ([, part = '']) => part,
  );

function parseColumns(text: string): ColumnPiece | undefined {
  const alternatives = splitAt(text, '|');
  const parts = splitAt(alternatives.pop() ?? '', ':').map(unescape);
  // A column name may contain colons.
  for (let end = 1; end <= parts.length; end++) {
    const functions = parseFunctions(parts.slice(end));
    const columns = [...alternatives.map(unescape), parts.slice(0, end).join(':')].map((name) => name.trim());
    if (functions) return columns.includes('') ? undefined : { columns, functions };
  }
  return undefined;
}

function parseFunctions(parts: readonly string[]): string[] | undefined {
  const functions: string[] = [];
  for (let at = 0; at < parts.length; at++) {
    const name = (parts[at] ?? '').trim();
    if (!FUNCTIONS[name]) return undefined;
    functions.push(FUNCTIONS[name].argument === undefined ? name : `${name}:${parts[++at] ?? ''}`);
  }
  return functions;
}

/** Lists the source columns that a template uses. */
export const listTemplateColumns = (text: string): string[] =>
  (parseTemplate(text) ?? []).flatMap((piece) => (typeof piece === 'string' ? [] : piece.columns));
