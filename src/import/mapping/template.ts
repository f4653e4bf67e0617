import { findNearest } from '../../platform/common/nearest.js';
import { MAX_TEMPLATE } from '../runs/import-profile.js';
import { ARGUMENTS, FUNCTIONS, FUNCTION_NAMES, UNIQUE } from './template-functions.js';

const MAX_PLACEHOLDERS = 20;
/**
 * Length after which rendering stops, in characters. Every field has a lower limit, so the rules reject the incomplete
 * result.
 */
const MAX_RESULT = 32 * 1024;

/**
 * Section of a template, such as `{mail|userPrincipalName:lower}`. Its value is the first column that is not blank,
 * converted by the functions.
 */
interface Placeholder {
  columns: readonly string[];
  functions: readonly FunctionCall[];
}

interface FunctionCall {
  name: string;
  /** Empty for a function without an argument. */
  argument: string;
}

type Part = string | Placeholder;

/** Alternatives of a template. The first one with a result that is not blank gives the value. */
export type FieldTemplate = readonly (readonly Part[])[];

/** Thrown for an invalid template. Callers put the name of the field, such as `set.Email`, before the message. */
export class TemplateError extends Error {}

/**
 * Parses a template such as `{ForeName}.{Surname}` or `{Surname:ascii:lower}`. `{mail|userPrincipalName}` stands for
 * the first of these columns that is not blank. `||` outside braces separates alternatives, and one space on each side
 * belongs to it. `\` escapes the next character.
 * @throws TemplateError for an invalid template.
 */
export function parseTemplate(text: string): FieldTemplate {
  if (text.length > MAX_TEMPLATE) throw new TemplateError(`may have at most ${MAX_TEMPLATE} characters`);
  const alternatives: Part[][] = [[]];
  let literal = '';
  /** Columns of the open placeholder, each split at its colons. Undefined outside a placeholder. */
  let open: string[][] | undefined;
  const addCharacter = (character: string): void => {
    const pieces = open?.at(-1);
    if (pieces) pieces.push((pieces.pop() ?? '') + character);
    else literal += character;
  };
  const addPart = (part: Part): void => {
    if (part !== '') alternatives.at(-1)?.push(part);
    literal = '';
  };
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at);
    const separator = open ? undefined : /^ ?\|\| ?/.exec(text.slice(at))?.[0];
    if (separator !== undefined) {
      addPart(literal);
      alternatives.push([]);
      at += separator.length - 1;
    } else if (character === '\\') {
      if (++at === text.length) throw new TemplateError('ends with a single \\');
      addCharacter(text.charAt(at));
    } else if (character === '{') {
      if (open) throw new TemplateError('has a { inside another {');
      addPart(literal);
      open = [['']];
    } else if (character === '}') {
      if (!open) throw new TemplateError('has a } without a {');
      addPart(toPlaceholder(open));
      open = undefined;
    } else if (open && character === '|') open.push(['']);
    else if (open && character === ':') open.at(-1)?.push('');
    else addCharacter(character);
  }
  if (open) throw new TemplateError('has a { without a }');
  addPart(literal);
  if (
    alternatives.length > 1 &&
    (alternatives.slice(0, -1).some(isConstant) || alternatives.at(-1)?.length === 0)
  )
    throw new TemplateError('must have a column before each || and a column or a text after it');
  const placeholders = listPlaceholders(alternatives);
  if (placeholders.length > MAX_PLACEHOLDERS)
    throw new TemplateError(`may have at most ${MAX_PLACEHOLDERS} placeholders`);
  const uses = placeholders.flatMap(({ functions }) => functions.filter(isUniqueCall));
  if (uses.length > 1 || (uses.length > 0 && !isUnique(alternatives)))
    throw new TemplateError('may use unique only once, at the very end, as in {Surname:unique}');
  return alternatives;
}

const isUniqueCall = ({ name }: FunctionCall): boolean => name === UNIQUE;

/** Returns true for a template whose result gets a number if another user has it (function `unique`). */
export function isUnique(template: FieldTemplate): boolean {
  const last = template.at(-1)?.at(-1);
  return typeof last === 'object' && last.functions.slice(-1).some(isUniqueCall);
}

function toPlaceholder(alternatives: readonly (readonly string[])[]): Placeholder {
  const functions: FunctionCall[] = [];
  const columns = alternatives.map((pieces, index) => {
    // Column names may contain colons, so the functions begin after the shortest possible column name.
    const starts = pieces.map((_, at) => at + 1);
    const start = starts.find((at) => parseFunctions(pieces.slice(at))) ?? pieces.length;
    functions.push(...(parseFunctions(pieces.slice(start)) ?? []));
    if (functions.length > 0 && index < alternatives.length - 1)
      throw new TemplateError('has a function before a |; put functions after the last column');
    assertNoMistake(pieces.slice(1, start).map((piece) => piece.trim()));
    const column = pieces.slice(0, start).join(':').trim();
    if (column === '') throw new TemplateError('has a placeholder without a column');
    return column;
  });
  return { columns, functions };
}

/** Parses pieces such as `before`, `@`, `lower`. Returns undefined if they are not functions with valid arguments. */
function parseFunctions(pieces: readonly string[]): FunctionCall[] | undefined {
  const calls: FunctionCall[] = [];
  for (let at = 0; at < pieces.length; at++) {
    const name = (pieces[at] ?? '').trim();
    if (!FUNCTIONS.has(name)) return undefined;
    const rule = ARGUMENTS.get(name);
    const argument = rule ? (pieces[++at] ?? '') : '';
    if (rule && !rule.pattern.test(argument)) return undefined;
    calls.push({ name, argument });
  }
  return calls;
}

/** Throws an error if the last pieces of a column name with colons look like an invalid function. */
function assertNoMistake(pieces: readonly string[]): void {
  const last = pieces.at(-1);
  if (last === undefined) return;
  const incomplete = pieces.slice(-2).find((piece) => ARGUMENTS.has(piece));
  if (incomplete !== undefined)
    throw new TemplateError(`uses ${incomplete} without ${ARGUMENTS.get(incomplete)?.need ?? ''}`);
  const misspelt = pieces.slice(-2, -1).filter((piece) => findNearest(piece, ARGUMENTS.keys()));
  const unknown = misspelt[0] ?? (last === '' || findNearest(last, FUNCTIONS.keys()) ? last : undefined);
  if (unknown !== undefined)
    throw new TemplateError(`uses the unknown function "${unknown}"; the functions are ${FUNCTION_NAMES}`);
}

export const listPlaceholders = (template: FieldTemplate): Placeholder[] =>
  template.flat().filter((part) => typeof part !== 'string');

export const sourcesOf = (template: FieldTemplate): string[] =>
  listPlaceholders(template).flatMap(({ columns }) => columns);

/**
 * Splits a name such as `Surname:upper` into the unknown function `upper` and the possible column `Surname`. Column
 * names may contain colons, so `A:B:upper` has two possible columns, `A` and `A:B`. A name without a colon has none.
 */
export function splitOffFunction(name: string): { name: string; columns: string[] } {
  const pieces = name.split(':');
  const columns = pieces.slice(1).map((_, index) => pieces.slice(0, index + 1).join(':'));
  return { name: (pieces.at(-1) ?? '').trim(), columns };
}

export function isConstant(alternative: readonly Part[]): alternative is readonly string[] {
  return alternative.every((part) => typeof part === 'string');
}

/** Renders a template for one record. Returns an empty string if all alternatives are blank. */
export function renderTemplate(template: FieldTemplate, readCell: (column: string) => string): string {
  for (const alternative of template) {
    const result = renderAlternative(alternative, readCell);
    if (result.trim() !== '') return result;
  }
  return '';
}

/** Renders an alternative. Returns an empty string if the columns of all placeholders are blank. */
function renderAlternative(alternative: readonly Part[], readCell: (column: string) => string): string {
  let result = '';
  let filled = isConstant(alternative);
  for (const part of alternative) {
    if (typeof part === 'string') result += part;
    else {
      const text = part.columns.map(readCell).find((cell) => cell.trim() !== '') ?? '';
      filled ||= text !== '';
      result += part.functions.reduce(applyFunction, text);
    }
    if (result.length > MAX_RESULT) break;
  }
  return filled ? result : '';
}

const applyFunction = (text: string, { name, argument }: FunctionCall): string =>
  FUNCTIONS.get(name)?.(text, argument) ?? text;
