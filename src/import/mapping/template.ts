import { findNearest } from '../../platform/common/nearest.js';
import { ASCII_FORMS, toNormalForm } from '../../platform/common/text.js';

/** Converts text to ASCII: `Zoë Åström` becomes `Zoe Astrom`. Characters without an ASCII form are removed. */
function toAscii(text: string): string {
  if (/^[\0-\x7f]*$/.test(text)) return text;
  return toNormalForm(text, 'NFKD').replace(/[^\0-\x7f]/gu, (letter) => ASCII_FORMS.get(letter) ?? '');
}

export const MAX_TEMPLATE = 500;
const MAX_PLACEHOLDERS = 20;
/**
 * Length after which rendering stops, in characters. Every field has a lower limit, so the rules reject the incomplete
 * result.
 */
const MAX_RESULT = 32 * 1024;

const FUNCTIONS: ReadonlyMap<string, (text: string) => string> = new Map([
  ['lower', (text: string) => text.toLowerCase()],
  ['ascii', toAscii],
  ['trim', (text: string) => text.trim()],
]);

export const FUNCTION_NAMES = new Intl.ListFormat('en-GB').format(FUNCTIONS.keys());

/**
 * Section of a template, such as `{mail|userPrincipalName:lower}`. Its value is the first column that is not blank,
 * converted by the functions.
 */
interface Placeholder {
  columns: readonly string[];
  functions: readonly string[];
}

export type FieldTemplate = readonly (string | Placeholder)[];

/** Thrown for an invalid template. Callers put the name of the field, such as `set.Email`, before the message. */
export class TemplateError extends Error {}

/**
 * Parses a template such as `{ForeName}.{Surname}` or `{Surname:ascii:lower}`. `{mail|userPrincipalName}` stands for
 * the first of these columns that is not blank. `\` escapes the next character.
 * @throws TemplateError for an invalid template.
 */
export function parseTemplate(text: string): FieldTemplate {
  if (text.length > MAX_TEMPLATE) throw new TemplateError(`may have at most ${MAX_TEMPLATE} characters`);
  const parts: (string | Placeholder)[] = [];
  let literal = '';
  /** Alternatives of the open placeholder, each split at its colons. Undefined outside a placeholder. */
  let open: string[][] | undefined;
  const addCharacter = (character: string): void => {
    const pieces = open?.at(-1);
    if (pieces) pieces.push((pieces.pop() ?? '') + character);
    else literal += character;
  };
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at);
    if (character === '\\') {
      if (++at === text.length) throw new TemplateError('ends with a single \\');
      addCharacter(text.charAt(at));
    } else if (character === '{') {
      if (open) throw new TemplateError('has a { inside another {');
      if (literal !== '') parts.push(literal);
      literal = '';
      open = [['']];
    } else if (character === '}') {
      if (!open) throw new TemplateError('has a } without a {');
      parts.push(toPlaceholder(open));
      open = undefined;
    } else if (open && character === '|') open.push(['']);
    else if (open && character === ':') open.at(-1)?.push('');
    else addCharacter(character);
  }
  if (open) throw new TemplateError('has a { without a }');
  if (literal !== '') parts.push(literal);
  if (parts.filter((part) => typeof part !== 'string').length > MAX_PLACEHOLDERS)
    throw new TemplateError(`may have at most ${MAX_PLACEHOLDERS} placeholders`);
  return parts;
}

function toPlaceholder(alternatives: readonly (readonly string[])[]): Placeholder {
  const functions: string[] = [];
  const columns = alternatives.map((given, index) => {
    const pieces = [...given];
    while (pieces.length > 1 && FUNCTIONS.has((pieces.at(-1) ?? '').trim())) {
      if (index < alternatives.length - 1)
        throw new TemplateError('has a function before a |; put functions after the last column');
      functions.unshift((pieces.pop() ?? '').trim());
    }
    const last = (pieces.at(-1) ?? '').trim();
    const meant = pieces.length > 1 ? findNearest(last, FUNCTIONS.keys()) : undefined;
    if (meant !== undefined || (pieces.length > 1 && last === ''))
      throw new TemplateError(`uses the unknown function "${last}"; the functions are ${FUNCTION_NAMES}`);
    const column = pieces.join(':').trim();
    if (column === '') throw new TemplateError('has a placeholder without a column');
    return column;
  });
  return { columns, functions };
}

export function sourcesOf(template: FieldTemplate): string[] {
  return template.flatMap((part) => (typeof part === 'string' ? [] : part.columns));
}

/**
 * Splits a name such as `Surname:upper` into the unknown function `upper` and the possible column `Surname`. Column
 * names may contain colons, so `A:B:upper` has two possible columns, `A` and `A:B`. A name without a colon has none.
 */
export function splitOffFunction(name: string): { name: string; columns: string[] } {
  const pieces = name.split(':');
  const columns = pieces.slice(1).map((_, index) => pieces.slice(0, index + 1).join(':'));
  return { name: (pieces.at(-1) ?? '').trim(), columns };
}

export function isConstant(template: FieldTemplate): template is readonly string[] {
  return template.every((part) => typeof part === 'string');
}

/**
 * Renders a template for one record. Returns an empty string if the columns of all placeholders are blank.
 * @param columnIndexes the column indexes of each placeholder.
 */
export function renderTemplate(
  template: FieldTemplate,
  columnIndexes: readonly (readonly number[])[],
  cell: (index: number) => string,
): string {
  let result = '';
  let filled = columnIndexes.length === 0;
  const placeholders = columnIndexes.values();
  for (const part of template) {
    if (typeof part === 'string') result += part;
    else {
      const cells = (placeholders.next().value ?? []).map(cell);
      const text = cells.find((each) => each.trim() !== '') ?? '';
      filled ||= text !== '';
      result += part.functions.reduce((value, name) => FUNCTIONS.get(name)?.(value) ?? value, text);
    }
    if (result.length > MAX_RESULT) break;
  }
  return filled ? result : '';
}
