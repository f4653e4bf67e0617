import { expect, test } from '@jest/globals';
import { setUpFolder } from '../support/data/folder.js';
import { parseBlocks } from '../support/process/guide/blocks.js';
import { runGuide } from '../support/process/guide/guide.js';

/** The guide runner runs the commands of a document and compares their output with the document. */
const folder = setUpFolder();

const sh = (script: string, words = ''): string => `\`\`\`sh${words}\n${script}\n\`\`\`\n`;
const shows = (text: string, kind = 'text'): string => `\`\`\`${kind}\n${text}\n\`\`\`\n`;
const answer = (status: string) => sh(`printf 'HTTP/1.1 ${status}\\r\\n\\r\\nx'`);
const run = (...parts: string[]) =>
  runGuide(
    'guide.md',
    { folder, variables: { PATH: process.env['PATH'] } },
    parseBlocks(parts.join('\nSome words.\n')),
  );

const ID = '01a20567-4a11-7c3e-9d05-6b1f2e8a4c70';
const OTHER = '01a20567-4d9f-714a-9d2f-599d2821c807';
const REAL = '01b00000-0000-7000-8000-000000000001';
const REAL_OTHER = '01b00000-0000-7000-8000-000000000002';

test('the guide runner accepts a document whose commands print the shown output', async () => {
  const done = await run(
    sh('NAME=ada; echo "I am $NAME"'),
    shows('I am ada'),
    sh('echo "made $NAME" > made; cat made; false || true'),
    shows('made ada'),
    sh("alias hi='echo hi'"),
    sh('hi; (exit 2)', ' exit=2'),
    shows('hi'),
    sh('rm -rf everything', ' no-run="it is not ours"'),
    sh(`echo '{"a":  1, "id":"x", "more": [1,2]}'`),
    shows('{\n  "a": 1, …\n}', 'json'),
    sh("printf 'HTTP/1.1 200 OK\\r\\nDate: today\\r\\nETag: 7\\r\\n\\r\\nbody\\n'"),
    shows('HTTP/1.1 200 OK\nETag: 7\n\nbody', 'http'),
  );
  expect(done).toEqual({ run: 6, compared: 5 });
});

test('the guide runner replaces example ids in later commands', async () => {
  await run(
    sh(`echo "${REAL} and ${REAL_OTHER}"`),
    shows(`${ID} and ${OTHER}`),
    sh(`echo "again ${OTHER}" | tee said; grep -q ${REAL_OTHER} said`),
    shows(`again ${OTHER}`),
  );
});

const faults: [string, string[], string][] = [
  ['different output', [sh('echo one'), shows('two')], 'guide.md:7: The document shows\ntwo'],
  ['additional output', [sh('echo one; echo two'), shows('one')], 'but its commands print\none\ntwo'],
  ['missing output', [sh('true'), shows('one')], 'The document shows\none'],
  ['a failed command between others', [sh('echo one; false; echo two')], 'line 1: false: 1'],
  ['a failed command in a pipe', [sh('false | cat')], 'line 1: cat: 1'],
  ['a failed command in a function', [sh('f() { false; true; }; f')], 'false: 1'],
  ['an unknown command', [sh('no-such-command')], 'no-such-command: 127'],
  ['an unset variable', [sh('echo $NEVER_SET'), sh('true')], 'NEVER_SET: unbound variable'],
  ['a command that ends the shell', [sh('exit 0')], 'the shell ended with 0'],
  ['a command that should fail but succeeds', [sh('true', ' exit=2')], 'all commands ended with 0'],
  ['a different exit code', [sh('(exit 1)', ' exit=2')], 'expected exit code 2, but: line 1'],
  ['one id for two ids', [sh(`echo ${REAL} ${REAL_OTHER}`), shows(`${ID} ${ID}`)], 'The document shows'],
  [
    'one example id for two ids of different commands',
    [sh(`echo ${REAL}`), shows(ID), sh(`echo ${REAL_OTHER}`), shows(ID)],
    'shows',
  ],
  ['a missing id', [sh('echo hello'), shows(ID)], 'The document shows'],
  ['a different JSON value', [sh(`echo '{"a": 1}'`), shows('{"a": 2}', 'json')], 'The document shows'],
  ['a missing HTTP header', [answer('200 OK'), shows('HTTP/1.1 200 OK\nETag: 7\n\nx', 'http')], 'ETag'],
  ['a different HTTP status', [answer('500 X'), shows('HTTP/1.1 200 OK\n\nx', 'http')], '200'],
  ['a block without a language', ['```\ntrue\n```\n'], 'line 1: a block begins with ```'],
  ['a misspelled option', [sh('true', ' norun="x"')], 'line 1: a block begins with ```sh norun="x"'],
];

test.each(faults)('the guide runner reports %s', async (_, parts, message) => {
  await expect(async () => run(...parts)).rejects.toThrow(message);
});
