import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { TestApp } from '../support/app/app.js';
import type { Json } from '../support/app/client.js';
import { csv, imported } from '../support/app/imports.js';

/** Which files are refused as a whole. */
let app: TestApp;
beforeAll(async () => void (app = await TestApp.start()));
afterAll(async () => app.end());

test('a given delimiter is used', async () => {
  const text = csv('ExternalId;Username;Email', 'f1;f1;f1@example.org');
  const run = await imported(app.key, text, 'delimiter=,');
  const codes = run.problems.map(({ code }: Json) => code);
  expect([run.state, codes]).toEqual(['failed', ['missing_column', 'unknown_column']]);
});

/** [what, file, options, code, line] */
const REFUSED: [string, string | Buffer, string, string, number | null][] = [
  ['nothing at all', '', '', 'empty_file', null],
  [
    'a password among ignored columns',
    csv('ExternalId,pass_word', 'a,hunter22'),
    'ignore_unknown_columns=true',
    'password_column',
    1,
  ],
  ['an unclosed quote', csv('ExternalId,Surname', 'a,b', 'c,"d', 'e,f'), '', 'unclosed_quote', 3],
  [
    'fewer rows than expected',
    csv('ExternalId,Username,Email', 'z,z,z@example.org'),
    'expected_rows=2',
    'unexpected_rows',
    null,
  ],
];

test.each(REFUSED)(
  '%s: refused whole, with code and line, and nothing written',
  async (_, content, options, code, line) => {
    const before = (await app.key.get('/users/search')).body.Count;
    const run = await imported(app.key, content, options);
    expect([run.state, run.problems.length, run.problems[0].code, run.problems[0].line]).toEqual([
      'failed',
      1,
      code,
      line,
    ]);
    expect(run.problems[0].message).not.toContain('hunter22');
    expect(run.counts).toMatchObject({ created: 0, error: 0 });
    expect((await app.key.get(`/imports/${run.id}/rows`)).body).toEqual({ Count: 0, Results: [] });
    expect((await app.key.get('/users/search')).body.Count).toBe(before);
  },
);
