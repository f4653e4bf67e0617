import { expect, test } from '@jest/globals';
import { buildMultiRowInserts } from '../../src/platform/database/mysql/mysql-insert.js';
import { MAX_PREPARED_LENGTH } from '../../src/platform/database/engine/sql.js';

const INSERT = { head: 'INSERT INTO notes (id, note) VALUES ', columns: 2, tail: '' };
const rowsOf = (count: number, note: string) => Array.from({ length: count }, (_, id) => [id, note]);
const statements = (count: number, note: string) => [...buildMultiRowInserts(INSERT, rowsOf(count, note))];

test.each([
  ['short values', 'x'],
  ['long values', 'x'.repeat(500)],
  ['huge values', 'x'.repeat(1_000_000)],
])('every row once and in its place: %s', (_, note) => {
  const all = statements(1234, note);
  expect(all.flatMap(({ params }) => params)).toEqual(rowsOf(1234, note).flat());
  for (const { sql, params } of all) expect(sql.match(/\?/g)).toHaveLength(params.length);
});

test('rows of short values are one statement', () => {
  expect(statements(10_000, 'x')).toHaveLength(1);
});

test('a statement binds no more values than a server takes', () => {
  const most = Math.max(...statements(40_000, 'x').map(({ params }) => params.length));
  expect([most > 20_000, most < 65_535]).toEqual([true, true]);
});

test('a statement stays under the size of a packet', () => {
  const sizes = statements(20, 'x'.repeat(900_000)).map(({ params }) => params.join('').length);
  expect(Math.max(...sizes)).toBeLessThan(4_000_000);
});

test('rows of long values come in statements of one form that is kept prepared, and a rest', () => {
  const forms = statements(2000, 'x'.repeat(500)).map(({ sql }) => sql);
  expect(new Set(forms.slice(0, -1)).size).toBe(1);
  expect(forms.length).toBeGreaterThan(2);
  expect(Math.max(...forms.map((sql) => sql.length))).toBeLessThanOrEqual(MAX_PREPARED_LENGTH);
});
