import { expect, test } from '@jest/globals';
import type { Command } from 'commander';
import { EXAMPLES, createProgram } from '../../src/cli/program.js';
import { application } from '../support/process/command.js';

/** The error that the program throws instead of ending the process. */
class ExitError extends Error {
  constructor(readonly code: number) {
    super(`ended with ${code}`);
  }
}
const createTestProgram = () =>
  createProgram(application, (code) => {
    throw new ExitError(code);
  });
const leavesOf = (command: Command, path = ''): { path: string; command: Command }[] =>
  command.commands.flatMap((child) => {
    const name = `${path} ${child.name()}`.trim();
    const below = leavesOf(child, name);
    // `doctor` is a command and has a subcommand.
    return [
      ...(below.length === 0 || child.name() === 'doctor' ? [{ path: name, command: child }] : []),
      ...below,
    ];
  });
const leaves = leavesOf(createTestProgram());

test('every command has an example, and every example belongs to a command', () => {
  expect(leaves.length).toBeGreaterThan(25);
  expect(Object.keys(EXAMPLES).sort()).toEqual(leaves.map(({ path }) => path).sort());
});

test.each(leaves.map(({ path, command }) => [path, command] as const))(
  'the help of "%s" shows examples and describes all options',
  (path, command) => {
    let help = '';
    command.configureOutput({ writeOut: (text) => (help += text) });
    command.outputHelp();
    for (const example of EXAMPLES[path] ?? []) expect(help).toContain(`\n  ${example}\n`);
    for (const { description } of command.options) expect(description).not.toBe('');
  },
);

const commands = createTestProgram().commands.filter((command) => command.name() !== 'start');
test.each(commands.map((command) => [command.name(), command] as const))(
  'the help of "%s" lists the exit codes',
  (_, command) => {
    let help = '';
    command.configureOutput({ writeOut: (text) => (help += text) });
    command.outputHelp();
    expect(help).toContain('Exit codes');
  },
);

/** Splits a command line into words as a shell does. */
const splitWords = (line: string): string[] =>
  [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, word]) => quoted ?? word ?? '');

test.each(Object.values(EXAMPLES).flat())('the help example runs exactly one command: %s', async (line) => {
  const words = splitWords(line.replace(/^source <\((.*)\)$/, '$1').replace(/^\w+=\S+ /, ''));
  expect(words.shift()).toBe('rollcall');
  const parsed = createTestProgram();
  const done: string[] = [];
  for (const { command } of leavesOf(parsed)) command.action(() => void done.push(command.name()));
  await parsed.parseAsync(words, { from: 'user' });
  expect(done).toHaveLength(1);
});

test.each(leaves.map(({ path, command }) => [path, command] as const))(
  'the command "%s" uses the same short flags as other commands',
  (_path, command) => {
    for (const { long, description } of command.options) {
      const others = leaves.flatMap(({ command: other }) =>
        other.options.filter((option) => option.long === long),
      );
      if (long === '--url' || long === '--key' || long === '--out')
        expect(new Set(others.map((option) => option.short)).size).toBe(1);
      expect(description.at(-1)).not.toBe('.');
    }
  },
);
