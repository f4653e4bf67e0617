import { describe, expect, test } from '@jest/globals';
import {
  TemplateError,
  sourcesOf,
  isConstant,
  parseTemplate,
  renderTemplate,
} from '../../src/import/mapping/template.js';

/** Renders a template for a row of the source. */
function renderRow(text: string, row: Record<string, string>): string {
  const names = Object.keys(row);
  const template = parseTemplate(text);
  const bound = template.flatMap((part) =>
    typeof part === 'string' ? [] : [part.columns.map((name) => names.indexOf(name))],
  );
  return renderTemplate(template, bound, (index) => Object.values(row)[index] ?? '');
}

const ROW = {
  Email: 'Ann@Example.org',
  Fore: 'Zoë',
  Sur: 'Ångström-Øst',
  none: ' ',
  'a:b': 'colon',
  'c|d': 'bar',
};

test.each([
  ['Active', 'Active'],
  ['{Email}', 'Ann@Example.org'],
  ['{ Email }', 'Ann@Example.org'],
  ['{Fore}.{Sur}', 'Zoë.Ångström-Øst'],
  ['{Fore:lower}.{Sur:ascii:lower}', 'zoë.angstrom-ost'],
  ['{none|Email}', 'Ann@Example.org'],
  ['{none|none|Fore:ascii}', 'Zoe'],
  ['{none}', ''],
  ['x-{none}@example.org', ''],
  ['{none}{Fore}', 'Zoë'],
  ['{a:b}', 'colon'],
  ['{a\\:b:lower}', 'colon'],
  ['{c\\|d}', 'bar'],
  ['\\{{Fore}\\}', '{Zoë}'],
  ['EXAMPLE\\\\{Fore}', 'EXAMPLE\\Zoë'],
])('the profile template %j is rendered as %j', (text, expected) => {
  expect(renderRow(text, ROW)).toBe(expected);
});

test.each([
  ['{Email', 'has a { without a }'],
  ['Email}', 'has a } without a {'],
  ['{{Email}}', 'has a { inside another {'],
  ['{}', 'has a placeholder without a column'],
  ['{Email|}', 'has a placeholder without a column'],
  ['{:lower}', 'has a placeholder without a column'],
  ['{Email:lowr}', 'uses the unknown function "lowr"; the functions are lower, ascii and trim'],
  ['{Email:}', 'uses the unknown function ""; the functions are lower, ascii and trim'],
  ['{mail:lower|upn}', 'has a function before a |; put functions after the last column'],
  ['x\\', 'ends with a single \\'],
  ['{a}'.repeat(21), 'may have at most 20 placeholders'],
  ['x'.repeat(501), 'may have at most 500 characters'],
])('the profile template %j is refused: %s', (text, message) => {
  expect(() => parseTemplate(text)).toThrow(new TemplateError(message));
});

test('a template without columns is a constant', () => {
  expect(sourcesOf(parseTemplate('{a|b}.{c}'))).toEqual(['a', 'b', 'c']);
  expect(isConstant(parseTemplate('Active'))).toBe(true);
  expect(isConstant(parseTemplate('x{a}'))).toBe(false);
});

describe('the result of a template', () => {
  test('has fewer than 100,000 characters', () => {
    const long = renderRow('{a}{a}{a}{a}{a}{a}', { a: 'x'.repeat(30_000) });
    expect(long.length).toBeGreaterThan(32 * 1024);
    expect(long.length).toBeLessThan(100_000);
  });

  test('loses 100,000 combining marks with the function ascii', () => {
    const marks = `e${'\u0301'.repeat(100_000)}`;
    expect(renderRow('{a:ascii}', { a: marks })).toBe('e');
  });
});
