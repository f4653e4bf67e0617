import { describe, expect, test } from '@jest/globals';
import { Linter } from 'eslint';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { isOneTopic } from '../../tools/words/commit-subjects.mjs';
import { findConstructions } from '../../tools/words/constructions.mjs';
import words from '../../tools/words/eslint-plugin.mjs';

const ROOT = new URL('../../', import.meta.url).pathname;
const run = promisify(execFile);

/** Returns the messages of one wording rule about a piece of code. */
function lint(rule: string, code: string): string[] {
  const config = { plugins: { words }, rules: { [`words/${rule}`]: 'error' } };
  return new Linter().verify(code, config as Linter.Config).map(({ message }) => message);
}

describe('a code comment', () => {
  test.each([
    ['those of', '// Keeps the rows of the user and those of the managers.'],
    ['whoever', '// Refuses whoever has no session.'],
    ['nobody', '// Nobody reads this value.'],
    ['is none', '/* The header is none. */'],
    ['another one', '// Waits for another one.'],
    ['behind', '// Appended behind the last row.'],
    ['beside', '// Runs beside the service.'],
    ['a semicolon', '// Reads the row; writes it back.'],
    ['"What"', '/** What the caller may do. */\nfoo();'],
    ['"Whether"', '/**\n * Whether the user is blocked.\n */\nfoo();'],
    ['"Who"', '/** Who started the run. */'],
    ['"Of"', '/** Of the last page. */'],
    ['"Those"', '/** Those rows that failed. */'],
    ['"How"', '/** How long a lease lasts. */'],
  ])('is refused for the wording: %s', (found, code) => {
    expect(lint('comments', code).join().toLowerCase()).toContain(found.toLowerCase());
  });

  test.each([
    '/** Returns the rows of the other user. */',
    '// The address of a client behind a trusted proxy.',
    '// Runs `a(); b();` in one transaction.',
    '/** The lease is no longer valid. */',
    '// @ts-expect-error: the types of those of the driver are wrong; see its source',
  ])('is accepted: %s', (code) => {
    expect(lint('comments', code)).toEqual([]);
  });
});

describe('a test title', () => {
  test.each([
    "test('nobody is changed', run)",
    "it.each(rows)('%s: those of the file; the rest stays', run)",
    'describe.skip(`behind ${name}`, run)',
    "describe.each`a\n${1}`('another one', run)",
  ])('is refused: %s', (code) => {
    expect(lint('titles', code)).not.toEqual([]);
  });

  test.each(["test('a blocked user is refused', run)", "call('whoever', run)"])('is accepted: %s', (code) => {
    expect(lint('titles', code)).toEqual([]);
  });
});

test('unclear wording is refused in a text for users', () => {
  expect(lint('texts', "fail('This key is told to whoever asks.')")).toHaveLength(2);
  expect(lint('texts', 'fail(`Use the value of ${name}, not that of the key.`)')).toHaveLength(1);
  expect(lint('texts', "fail('behind')")).toEqual([]);
});

test('the wording check ignores code and links in documents', () => {
  expect(findConstructions('Set `behind` as in [the guide](behind.md) behind a proxy.')).toEqual([]);
  expect(findConstructions('It stands behind the service.')).toHaveLength(1);
});

describe('a commit subject', () => {
  test.each([
    ['a semicolon', 'validate reasons; trim names'],
    ['a verb after "and"', 'validate reasons and remove the old key'],
    ['a verb after a comma', 'validate reasons, remove the old key'],
  ])('with %s counts as two topics', (_case, subject) => {
    expect(isOneTopic(subject)).toBe(false);
  });

  test('with a list of nouns counts as one topic', () => {
    expect(isOneTopic('validate names, reasons and notes')).toBe(true);
  });

  test.each([
    ['a noun in place of a verb', 'fix: a reason is text of one line'],
    ['a missing type', 'Validate reasons as text of one line'],
    ['more than 72 characters', `fix: validate ${'very '.repeat(12)}long reasons`],
    ['two topics', 'fix: validate reasons and remove the old key'],
    ['unclear wording', 'fix: remove the value of a user and those of the managers'],
  ])('with %s fails commitlint', async (_case, subject) => {
    await expect(commitlint(subject)).rejects.toMatchObject({ code: 1 });
  });

  test('that is short and imperative passes commitlint', async () => {
    await expect(commitlint('fix(users): validate reasons as single-line text')).resolves.toBeDefined();
  });
});

/** Runs commitlint on a message. Rejects with the exit code when the message breaks a rule. */
async function commitlint(message: string): Promise<unknown> {
  const program = run(process.execPath, ['node_modules/@commitlint/cli/cli.js'], { cwd: ROOT });
  program.child.stdin?.end(`${message}\n`);
  return program;
}
