import { describe, expect, test } from '@jest/globals';
import { FUNCTION_NAMES } from '../../src/import/mapping/template-functions.js';
import {
  TemplateError,
  sourcesOf,
  isConstant,
  parseTemplate,
  renderTemplate,
} from '../../src/import/mapping/template.js';

/** Renders a template for a row of the source. */
const renderRow = (text: string, row: Record<string, string>): string =>
  renderTemplate(parseTemplate(text), (name) => row[name] ?? '');

const NO_ALTERNATIVE = 'must have a column before each || and a column or a text after it';
const ROW = {
  Email: 'Ann@Example.org',
  Fore: 'Zoë',
  Sur: 'Ångström-Øst',
  none: ' ',
  'a:b': 'colon',
  'c|d': 'bar',
  caps: "ANNA-LENA O'NEILL VON DER MCDONALD",
  small: "d'angelo mcdonald van 't hooft",
  mixed: "McDonald deVries JOE'S VAN",
  pair: 'Müller, Jörg, Dr.',
  marks: 'U\u0308BER Übel Ü MÜ Größe ẞ',
  nr: ' 42/7 ',
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
  ['{caps:title}', "Anna-Lena O'Neill von der McDonald"],
  ['{small:title}', "D'Angelo McDonald van 't Hooft"],
  ['{mixed:title}', "McDonald deVries Joe's Van"],
  ['{marks:german:ascii}', 'UEBER Uebel Ue MUE Groesse SS'],
  ['{nr:digits}', '427'],
  ['{Fore:upper}', 'ZOË'],
  ['{nr:pad:6}{none:pad:3}', '0042/7'],
  ['{pair:before:,}|{pair:after:,}', 'Müller|Jörg, Dr.'],
  ['{pair:after:, J:upper}', 'ÖRG, DR.'],
  ['{pair:before:;}|{pair:after:;}', 'Müller, Jörg, Dr.|'],
  ['{Email:before:@:lower}', 'ann'],
  ['{a:b:before:o}', 'c'],
  ['{pair:before:\\:}', 'Müller, Jörg, Dr.'],
  ['{pair:after:upper}', ''],
  ['{Fore:lower}.{Sur:ascii:unique}', 'zoë.Angstrom-Ost'],
  ['{Email} || {Fore}@x.org', 'Ann@Example.org'],
  ['{none}-{none} || {Fore}@x.org', 'Zoë@x.org'],
  ['{none}||{none|none}@x.org||{Sur:ascii:unique}', 'Angstrom-Ost'],
  ['{Fore:digits} || {pair:after:;} || no number', 'no number'],
  ['{none} ||  {c\\|d} ', ' bar '],
  ['{Fore} \\|| {c\\|d}', 'Zoë || bar'],
  ['{Fore}|\\| {Sur:digits}|', 'Zoë|| |'],
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
  ['{Email:lowr}', `uses the unknown function "lowr"; the functions are ${FUNCTION_NAMES}`],
  ['{Email:}', `uses the unknown function ""; the functions are ${FUNCTION_NAMES}`],
  ['{Email:befor:@}', `uses the unknown function "befor"; the functions are ${FUNCTION_NAMES}`],
  ['{Email:pad}', 'uses pad without a number from 1 to 64, as in pad:6'],
  ['{Email:pad:65:lower}', 'uses pad without a number from 1 to 64, as in pad:6'],
  ['{Email:before:}', 'uses before without a text, as in before:@'],
  ['{Email:lower:after}', 'uses after without a text, as in after:@'],
  ['{Email:unique:lower}', 'may use unique only once, at the very end, as in {Surname:unique}'],
  ['{Fore:unique}.{Sur}', 'may use unique only once, at the very end, as in {Surname:unique}'],
  ['{Fore:unique}@example.org', 'may use unique only once, at the very end, as in {Surname:unique}'],
  ['{Fore:unique:unique}', 'may use unique only once, at the very end, as in {Surname:unique}'],
  ['{mail:lower|upn}', 'has a function before a |; put functions after the last column'],
  ['{Fore:unique} || {Sur}', 'may use unique only once, at the very end, as in {Surname:unique}'],
  ['{a} || ', NO_ALTERNATIVE],
  [' || {a}', NO_ALTERNATIVE],
  ['{a} || none || {b}', NO_ALTERNATIVE],
  ['x\\', 'ends with a single \\'],
  ['{a}'.repeat(21), 'may have at most 20 placeholders'],
  ['x'.repeat(501), 'may have at most 500 characters'],
])('the profile template %j is refused: %s', (text, message) => {
  expect(() => parseTemplate(text)).toThrow(new TemplateError(message));
});

test('a template without columns is a constant', () => {
  expect(sourcesOf(parseTemplate('{a|b}.{c} || {d}'))).toEqual(['a', 'b', 'c', 'd']);
  expect(parseTemplate('{a}x || Active').map(isConstant)).toEqual([false, true]);
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
