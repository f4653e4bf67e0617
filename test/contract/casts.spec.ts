import { expect, test } from '@jest/globals';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

const SRC = new URL('../../src/', import.meta.url).pathname;
const MAX_PER_1000_LINES = 2;

/** Finds the type assertions of a source text, as `file:line`. Ignores `as const`, which only narrows a type. */
function findCasts(file: string, text: string): string[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.ES2023, true);
  const casts: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isAssertionExpression(node) && !ts.isConstTypeReference(node.type))
      casts.push(`${file}:${source.getLineAndCharacterOfPosition(node.getStart()).line + 1}`);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return casts;
}

const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
const texts = files.map((file) => readFileSync(join(SRC, file), 'utf8'));

test('the check for type casts ignores renamed imports and `as const`', () => {
  const text = "import { a as b } from 'c';\nconst d = ['e'] as const;\nconst f = d as string[];\n";
  expect(findCasts('x', text)).toEqual(['x:3']);
});

test(`src has at most ${MAX_PER_1000_LINES} type casts per 1,000 lines`, () => {
  const casts = files.flatMap((file, index) => findCasts(file, texts[index] ?? ''));
  const lines = texts.reduce((sum, text) => sum + text.split('\n').length - 1, 0);
  const most = Math.floor((lines / 1000) * MAX_PER_1000_LINES);
  expect({ most, over: casts.length > most ? casts : [] }).toEqual({ most, over: [] });
});
