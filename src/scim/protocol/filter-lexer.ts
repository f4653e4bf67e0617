import { invalidFilter } from './errors.js';

/** A word is an attribute, an operator or a value without quotes. `position` counts from 1. */
export interface Token {
  readonly kind: '(' | ')' | '[' | ']' | 'word' | 'string' | 'end';
  /** Of a string, what it means. */
  readonly text: string;
  readonly position: number;
  /** Whether it follows a blank, a bracket or nothing. */
  readonly apart: boolean;
}

const WORD = /[^\s()[\]"]+/y;
const BLANK = /[ \t\r\n]*/y;
/** A JSON string whose content has been checked to end. */
const STRING = /"(?:[^"\\]|\\[^])*"/y;

/**
 * The tokens of a filter, the last of them `end`, in one pass.
 * @throws ProblemError `invalid_filter` for a string that does not end or is no JSON string, and for unknown blanks
 */
export function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  for (;;) {
    const start = skip(BLANK, text, at);
    const before = tokens.at(-1)?.kind;
    const apart = start > at || before === undefined || isBracket(before);
    const token = read(text, start, apart);
    tokens.push(token.token);
    if (token.token.kind === 'end') return tokens;
    at = token.end;
  }
}

function read(text: string, start: number, apart: boolean): { token: Token; end: number } {
  const position = start + 1;
  const char = text[start];
  if (char === undefined) return { token: { kind: 'end', text: 'the end', position, apart }, end: start };
  if (isBracket(char)) return { token: { kind: char, text: char, position, apart: true }, end: start + 1 };
  if (char === '"') {
    const end = skip(STRING, text, start);
    if (end === start) throw invalidFilter(position, 'the text in quotes has no end');
    return {
      token: { kind: 'string', text: meaning(text.slice(start, end), position), position, apart },
      end,
    };
  }
  const end = skip(WORD, text, start);
  if (end === start) throw invalidFilter(position, 'only spaces may separate words');
  return { token: { kind: 'word', text: text.slice(start, end), position, apart }, end };
}

function isBracket(char: string): char is '(' | ')' | '[' | ']' {
  return char === '(' || char === ')' || char === '[' || char === ']';
}

/** Where a sticky pattern that begins at `start` ends; `start` itself when it does not fit. */
function skip(pattern: RegExp, text: string, start: number): number {
  pattern.lastIndex = start;
  return pattern.test(text) ? pattern.lastIndex : start;
}

function meaning(literal: string, position: number): string {
  const value = parsed(literal);
  if (typeof value !== 'string') {
    throw invalidFilter(position, 'the text in quotes is no JSON string: write \\\\ for a backslash');
  }
  if (!value.isWellFormed()) throw invalidFilter(position, 'the text in quotes holds broken Unicode');
  return value;
}

function parsed(literal: string): unknown {
  try {
    return JSON.parse(literal);
  } catch {
    return undefined;
  }
}
