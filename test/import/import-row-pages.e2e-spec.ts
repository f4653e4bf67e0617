import { beforeAll, describe, expect, test } from '@jest/globals';
import { insertRows } from '../../src/platform/database/engine/sql.js';
import { ImportRowEntity } from '../../src/import/runs/import.entity.js';
import { type StagedRow, EMPTY_ROW } from '../../src/import/runs/import-row.js';
import { toEntity } from '../../src/import/runs/import-rows.repository.js';
import { setUpApp } from '../support/app/app.js';
import type { Json } from '../support/app/client.js';
import { runImport } from '../support/app/imports.js';
import { fileOf } from '../support/data/user-file.js';
import { databaseOf } from '../support/app/people.js';

/** Pages of the rows of a run. */
const app = setUpApp();
let id = '';
const COUNT = 300;
const OUTCOMES = ['error', 'created', 'updated', 'unchanged', 'missing'] as const;
const CODES = ['duplicate', 'invalid_format', 'required'];

/** Rows of every outcome. Unchanged rows without a warning are never listed. */
const rows: StagedRow[] = Array.from({ length: COUNT }, (_, i) => {
  const outcome = OUTCOMES[i % OUTCOMES.length] ?? 'error';
  const code = outcome === 'error' ? CODES[i % CODES.length] : i % 4 === 0 ? 'blocked_elsewhere' : undefined;
  const errors = code === undefined || outcome === 'missing' ? [] : [{ field: 'x', code, message: 'is so' }];
  return { ...EMPTY_ROW, line: outcome === 'missing' ? -i : i + 2, outcome, external_id: `w${i}`, errors };
});

beforeAll(async () => {
  id = (await runImport(app.key, fileOf('w'))).id;
  await databaseOf(app).execute('DELETE FROM import_rows WHERE run_id = ?', [id]);
  const entities = rows.map((row) => toEntity(id, row));
  await insertRows(databaseOf(app), ImportRowEntity, entities);
});

/** Follows the links to the next pages. @returns the external ids of all rows. */
async function walk(query: string): Promise<string[]> {
  const found: string[] = [];
  for (let url = `/imports/${id}/rows?${query}`; ;) {
    const answer = await app.key.get(url);
    expect(answer.status).toBe(200);
    found.push(...answer.body.Results.map((row: Json) => row.external_id));
    const next = /<([^>]+)>; rel="next"/.exec(answer.headers['link'] ?? '')?.[1];
    if (next === undefined) return found;
    expect(answer.body.Results.length).toBe(7);
    url = next.replace('/api/0.3', '');
  }
}

const isListed = ({ outcome, errors }: StagedRow): boolean => outcome !== 'unchanged' || errors.length > 0;
const listExpected = (matches: (row: StagedRow) => boolean): string[] =>
  rows
    .filter((row) => isListed(row) && matches(row))
    .sort((a, b) => a.line - b.line)
    .map(({ external_id }) => external_id);

describe('the page links of import rows', () => {
  test.each<[string, (row: StagedRow) => boolean]>([
    ['', () => true],
    ['outcome=error', ({ outcome }) => outcome === 'error'],
    ['outcome=missing', ({ outcome }) => outcome === 'missing'],
    ['outcome=unchanged', ({ outcome }) => outcome === 'unchanged'],
    ['outcome=created&outcome=missing', ({ outcome }) => outcome === 'created' || outcome === 'missing'],
    ['code=required', ({ errors }) => errors[0]?.code === 'required'],
    ['code=blocked_elsewhere', ({ errors }) => errors[0]?.code === 'blocked_elsewhere'],
    [
      'code=blocked_elsewhere&outcome=unchanged',
      ({ errors, outcome }) => errors[0]?.code === 'blocked_elsewhere' && outcome === 'unchanged',
    ],
    ['code=nothing', () => false],
  ])('return each matching row once for %j', async (query, matches) => {
    expect(await walk(`${query}&limit=7`)).toEqual(listExpected(matches));
  });
});

test('GET /imports/{id}/rows rejects offset together with after', async () => {
  const answer = await app.key.get(`/imports/${id}/rows?outcome=error&offset=50&limit=100`);
  const found = answer.body.Results.map((row: Json) => row.external_id);
  expect(found).toEqual(listExpected(({ outcome }) => outcome === 'error').slice(50));
  for (const query of ['offset=1&after=5', 'after=x', 'after=', 'after=1.5'])
    expect((await app.key.get(`/imports/${id}/rows?${query}`)).body.code).toBe('invalid_parameter');
});

test('the problem list of an import contains its first 50 problems', async () => {
  const { problems } = (await app.key.get(`/imports/${id}`)).body;
  const first = rows.filter(({ errors }) => errors.length > 0).slice(0, 50);
  expect(problems.map(({ line, code }: Json) => [line, code])).toEqual(
    first.map(({ line, errors }) => [line, errors[0]?.code]),
  );
});
