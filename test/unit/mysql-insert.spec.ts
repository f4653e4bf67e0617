import { expect, test } from '@jest/globals';
import { buildMultiRowInserts } from '../../src/platform/database/mysql/mysql-insert.js';
import { MAX_PREPARED_LENGTH } from '../../src/platform/database/engine/sql.js';

const INSERT = { name: 'notes', columns: ['id', 'note'] };
const rowsOf = (count: number, note: string) => Array.from({ length: count }, (_, id) => [id, note]);
const buildAll = (count: number, note: string) => [...buildMultiRowInserts(INSERT, rowsOf(count, note))];

test.each([
  ['short values', 'x'],
  ['long values', 'x'.repeat(500)],
  ['huge values', 'x'.repeat(1_000_000)],
])('rows with %s are inserted once each and in order', (_, note) => {
  const all = buildAll(1234, note);
  expect(all.flatMap(({ params }) => params)).toEqual(rowsOf(1234, note).flat());
  for (const { sql, params } of all) expect(sql.match(/\?/g)).toHaveLength(params.length);
});

test('10,000 rows of short values need only one INSERT statement', () => {
  expect(buildAll(10_000, 'x')).toHaveLength(1);
});

test('an INSERT statement binds fewer than 65,535 values', () => {
  const most = Math.max(...buildAll(40_000, 'x').map(({ params }) => params.length));
  expect(most).toBeGreaterThan(20_000);
  expect(most).toBeLessThan(65_535);
});

test('an INSERT statement of long values is smaller than 4 MB', () => {
  const sizes = buildAll(20, 'x'.repeat(900_000)).map(({ params }) => params.join('').length);
  expect(Math.max(...sizes)).toBeLessThan(4_000_000);
});

test('rows of long values share one prepared INSERT statement', () => {
  const forms = buildAll(2000, 'x'.repeat(500)).map(({ sql }) => sql);
  expect(new Set(forms.slice(0, -1)).size).toBe(1);
  expect(forms.length).toBeGreaterThan(2);
  expect(Math.max(...forms.map((sql) => sql.length))).toBeLessThanOrEqual(MAX_PREPARED_LENGTH);
});
