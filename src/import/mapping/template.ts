import { nearest } from '../../platform/common/nearest.js';
import { normalForm } from '../../platform/common/text.js';

/** Letters that Unicode does not take apart into a letter of ASCII and its mark, each before its form in ASCII. */
const LETTERS = new Map(
  "ßss ẞSS æae ÆAe œoe ŒOe øo ØO đd ĐD ðd ÐD ħh ĦH ıi łl ŁL ŧt ŦT þth ÞTh ’' ‘' –- —-"
    .split(' ')
    .map((pair) => [pair.charAt(0), pair.slice(1)]),
);

/** Text without accents: `Zoë Åström` is `Zoe Astrom`. Characters that have no form in ASCII are left out. */
function toAscii(text: string): string {
  if (/^[\0-\x7f]*$/.test(text)) return text;
  return normalForm(text, 'NFKD').replace(/[^\0-\x7f]/gu, (letter) => LETTERS.get(letter) ?? '');
}

export const MAX_TEMPLATE = 500;
const MAX_PLACEHOLDERS = 20;
/** Longer than any field may be: a rule refuses it all the same, and a row stays small. */
const MAX_RESULT = 32 * 1024;

const FUNCTIONS: ReadonlyMap<string, (text: string) => string> = new Map([
  ['lower', (text: string) => text.toLowerCase()],
  ['ascii', toAscii],
  ['trim', (text: string) => text.trim()],
]);

export const FUNCTION_NAMES = new Intl.ListFormat('en-GB').format(FUNCTIONS.keys());

/** The first of some columns that is not blank, through functions. */
interface Placeholder {
  columns: readonly string[];
  functions: readonly string[];
}

export type Template = readonly (string | Placeholder)[];

/** Why a text is no template. The message completes "set.Email …". */
export class TemplateError extends Error {}

/**
 * Reads `{ForeName}.{Surname}`, `{mail|userPrincipalName}` (the first that is not blank) and `{Surname:ascii:lower}`. `\`
 * takes the meaning of the next character. One pass, no recursion; a template can neither loop nor call anything.
 * @throws TemplateError
 */
export function parseTemplate(text: string): Template {
  if (text.length > MAX_TEMPLATE) throw new TemplateError(`may have at most ${MAX_TEMPLATE} characters`);
  const parts: (string | Placeholder)[] = [];
  let literal = '';
  /** Of the open placeholder: its alternatives, each in the pieces between its colons. */
  let open: string[][] | undefined;
  const add = (character: string): void => {
    const pieces = open?.at(-1);
    if (pieces) pieces.push((pieces.pop() ?? '') + character);
    else literal += character;
  };
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at);
    if (character === '\\') {
      if (++at === text.length) throw new TemplateError('ends with a single \\');
      add(text.charAt(at));
    } else if (character === '{') {
      if (open) throw new TemplateError('has a { inside of a {');
      if (literal !== '') parts.push(literal);
      literal = '';
      open = [['']];
    } else if (character === '}') {
      if (!open) throw new TemplateError('has a } without a {');
      parts.push(toPlaceholder(open));
      open = undefined;
    } else if (open && character === '|') open.push(['']);
    else if (open && character === ':') open.at(-1)?.push('');
    else add(character);
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
        throw new TemplateError('has a function before a |; write functions behind the last column');
      functions.unshift((pieces.pop() ?? '').trim());
    }
    const last = (pieces.at(-1) ?? '').trim();
    const meant = pieces.length > 1 ? nearest(last, FUNCTIONS.keys()) : undefined;
    if (meant !== undefined || (pieces.length > 1 && last === ''))
      throw new TemplateError(`knows no function "${last}"; there are ${FUNCTION_NAMES}`);
    const column = pieces.join(':').trim();
    if (column === '') throw new TemplateError('has a placeholder without a column');
    return column;
  });
  return { columns, functions };
}

/** The source columns of a template, in its order. */
export function columnsOf(template: Template): string[] {
  return template.flatMap((part) => (typeof part === 'string' ? [] : part.columns));
}

/**
 * The function that the end of a name may have been meant as, in `{Surname:upper}`, and the columns that it may have been meant
 * for. A column may have a colon in its name, so that only a file shows which it is. @returns undefined without a colon.
 */
export function asFunction(name: string): { name: string; columns: string[] } | undefined {
  const pieces = name.split(':');
  const columns = pieces.slice(1).map((_, index) => pieces.slice(0, index + 1).join(':'));
  return columns.length > 0 ? { name: (pieces.at(-1) ?? '').trim(), columns } : undefined;
}

/** Whether it is the same in every row. */
export function isConstant(template: Template): template is readonly string[] {
  return template.every((part) => typeof part === 'string');
}

/**
 * The text of a template whose columns are bound to their places in a record; one whose columns are all blank is blank.
 * @param bound in the order of the placeholders.
 */
export function render(
  template: Template,
  bound: readonly (readonly number[])[],
  cell: (index: number) => string,
): string {
  let result = '';
  let filled = bound.length === 0;
  let placeholder = 0;
  for (const part of template) {
    if (typeof part === 'string') {
      result += part;
      continue;
    }
    for (const index of bound[placeholder] ?? []) {
      const text = cell(index);
      if (text.trim() === '') continue;
      filled = true;
      result += part.functions.reduce((value, name) => FUNCTIONS.get(name)?.(value) ?? value, text);
      break;
    }
    placeholder++;
    if (result.length > MAX_RESULT) break;
  }
  return filled ? result : '';
}
