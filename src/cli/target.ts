import { Command, Option } from 'commander';
import { open } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import type { InputClass } from '../platform/common/fields.js';
import type { JsonObject } from '../platform/common/json.js';
import { readInput } from '../platform/input/read-input.js';

/** The options that say which service a command works with, and how. */
export interface Target {
  url?: string;
  key?: string;
  keyFile?: string;
  json?: true;
  /** Why, for the audit, of a command that changes something. */
  reason?: string;
}

const TARGET_OPTIONS: ReadonlySet<string> = new Set(['url', 'key', 'keyFile', 'json', 'reason']);

/** Rights of a file that let others in. */
const OTHERS = 0o077;

/** Creates a command with the options of `Target`. */
export const targetCommand = (name: string, description: string): Command =>
  new Command(name)
    .description(description)
    .option('--url <url>', 'of a running service, instead of the database of these settings')
    .addOption(new Option('--key <key>', 'an API key for that service').env('ROLLCALL_KEY'))
    .option('--key-file <file>', 'that holds the key, and that only you can read; - is standard input')
    .option('--json', 'as JSON')
    .hook('preAction', (self) => {
      if (self.getOptionValue('url') !== undefined) return;
      // A key in the environment may be meant for other commands.
      for (const flag of ['key', 'keyFile'])
        if (self.getOptionValueSource(flag) === 'cli')
          self.error(
            `error: option '${flag === 'key' ? '--key' : '--key-file'}' is for a service: it needs --url`,
          );
    });

/** As `targetCommand`, of a command that changes something. */
export const changingCommand = (name: string, description: string): Command =>
  targetCommand(name, description).option('--reason <text>', 'why, for the audit');

/** Returns the options of a command by the names of the interface, without those of `Target`: `dryRun` is `dry_run`. */
export function toFields(options: object): JsonObject {
  const sent = Object.entries(options).filter(
    ([name, value]) => value !== undefined && !TARGET_OPTIONS.has(name),
  );
  const toField = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return Object.fromEntries(sent.map(([name, value]) => [toField(name), value]));
}

/** Returns the options of a command as a query, with `more`. Ends the program where they break a rule of the interface. */
export function queryOf(type: InputClass<object>, options: object, command: Command, more = {}): JsonObject {
  const query = { ...toFields(options), ...more };
  assertFields(type, query, command);
  return query;
}

/** Ends the program where a field breaks a rule of the interface. */
export function assertFields(type: InputClass<object>, fields: JsonObject, command: Command): void {
  const [fault] = readInput(type, fields).errors;
  if (fault) command.error(`error: option '--${fault.field.replaceAll('_', '-')}' ${fault.message}`);
}

/** Returns the key for `--url`. @throws Error without one, and for a file that others can read, or that is empty. */
export async function readKey({ key, keyFile }: Target): Promise<string> {
  const secret = keyFile === undefined ? key : await readKeyFile(keyFile);
  if (!secret) throw new Error('--url needs an API key: --key, --key-file, or the variable ROLLCALL_KEY.');
  return secret;
}

async function readKeyFile(file: string): Promise<string> {
  if (file === '-') return (await text(process.stdin)).trim();
  const handle = await open(file);
  try {
    const { mode } = await handle.stat();
    if ((mode & OTHERS) !== 0)
      throw new Error(`Others can read ${file}: chmod 600 ${file}, and make a new key if they may have.`);
    const key = (await handle.readFile('utf8')).trim();
    if (key === '') throw new Error(`${file} is empty.`);
    return key;
  } finally {
    await handle.close();
  }
}
