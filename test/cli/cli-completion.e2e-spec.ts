import { expect, test } from '@jest/globals';
import { execFileSync, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runCommand } from '../support/process/command.js';
import { setUpDatabase } from '../support/process/process.js';

/** Completions that a shell offers when Tab is pressed. */
const database = setUpDatabase();

const isInstalled = (shell: string): boolean => spawnSync(shell, ['--version']).status === 0;
const writeScript = async (shell: string): Promise<string> => {
  const { code, out } = await runCommand(database, ['completion', shell]);
  expect(code).toBe(0);
  const file = join(database.folder, `completion.${shell}`);
  writeFileSync(file, out);
  return file;
};

/** The words before Tab, the expected offers, and words that must not be offered. */
const CASES: [line: string[], offered: string[], notOffered: string[]][] = [
  [[''], ['import', 'users', 'doctor', 'completion'], ['find']],
  [['us'], ['users'], ['import']],
  [
    ['users', ''],
    ['find', 'block', 'export'],
    ['users', 'revoke'],
  ],
  [['users', 'find', '--s'], ['--status', '--sort'], ['--role']],
  [['users', 'find', 'jane', '--ur'], ['--url'], []],
  [['import', 'a.csv', '--dry'], ['--dry-run'], []],
  [['doctor', 'scim', '--pro'], ['--profile'], ['--security']],
  [['keys', 'users', ''], ['create'], ['find']],
];

test.each(['bash', 'zsh', 'fish'])('%s completion of rollcall offers commands and options', async (shell) => {
  if (!isInstalled(shell)) {
    process.stderr.write(`skipped: ${shell} is not installed\n`);
    return;
  }
  const script = await writeScript(shell);
  for (const [line, offered, notOffered] of CASES) {
    const words = ['rollcall', ...line];
    const printed = execFileSync(shell, buildArguments(shell, script, words), { encoding: 'utf8' });
    // The script for zsh offers all words, because zsh filters them.
    const found = printed
      .split('\n')
      .map((word) => word.split('\t')[0] ?? '')
      .filter((word) => word.startsWith(line.at(-1) ?? ''));
    expect(found).toEqual(expect.arrayContaining(offered));
    for (const word of notOffered) expect(found).not.toContain(word);
  }
});

function buildArguments(shell: string, script: string, words: string[]): string[] {
  if (shell === 'fish') return ['--no-config', '-c', `source ${script}; complete -C '${words.join(' ')}'`];
  const list = words.map((word) => `'${word}'`).join(' ');
  const load =
    shell === 'zsh' ? 'autoload -Uz compinit; compinit -D -u; setopt ksh_arrays sh_word_split;' : '';
  const tab = `COMP_WORDS=(${list}); COMP_CWORD=${words.length - 1}; _rollcall; printf '%s\\n' "\${COMPREPLY[@]}"`;
  return [shell === 'zsh' ? '-fc' : '-c', `${load} source ${script}; ${tab}`];
}
