import { expect, test } from '@jest/globals';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

const SRC = new URL('../../src/', import.meta.url).pathname;
const MAX_PER_1000_LINES = 2;

interface Assertions {
  lines: number;
  casts: string[];
  castsOfCasts: string[];
  anys: string[];
}

/** Finds the type assertions of a source text, as `file:line`. Ignores `as const`, which only narrows a type. */
function findAssertions(file: string, text: string): Assertions {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.ES2023, true);
  const found: Assertions = { lines: text.split('\n').length - 1, casts: [], castsOfCasts: [], anys: [] };
  const visit = (node: ts.Node): void => {
    const locate = (): string => `${file}:${source.getLineAndCharacterOfPosition(node.getStart()).line + 1}`;
    if (ts.isAssertionExpression(node) && !ts.isConstTypeReference(node.type)) {
      found.casts.push(locate());
      if (ts.isAssertionExpression(node.expression)) found.castsOfCasts.push(locate());
    }
    if (node.kind === ts.SyntaxKind.AnyKeyword) found.anys.push(locate());
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
const all = files.map((file) => findAssertions(file, readFileSync(join(SRC, file), 'utf8')));

test('the check for type casts finds nested casts and `any`', () => {
  const text = [
    "import { a as b } from 'c';",
    "const d = ['e'] as const;",
    'const f = d as string[];',
    'const g = f as unknown as number;',
    'const h = <string>g;',
    'let i: any;',
    '',
  ].join('\n');
  expect(findAssertions('x', text)).toEqual({
    lines: 6,
    casts: ['x:3', 'x:4', 'x:4', 'x:5'],
    castsOfCasts: ['x:4'],
    anys: ['x:6'],
  });
});

test(`src has at most ${MAX_PER_1000_LINES} type casts per 1,000 lines`, () => {
  const casts = all.flatMap((found) => found.casts);
  const lines = all.reduce((sum, found) => sum + found.lines, 0);
  const most = Math.floor((lines / 1000) * MAX_PER_1000_LINES);
  expect({ most, over: casts.length > most ? casts : [] }).toEqual({ most, over: [] });
});

test('src contains neither nested type casts nor the type `any`', () => {
  expect(all.flatMap((found) => [...found.castsOfCasts, ...found.anys])).toEqual([]);
});
