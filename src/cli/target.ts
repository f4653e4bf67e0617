import { Command, Option } from 'commander';
import { readFile, stat } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import type { InputClass } from '../platform/common/fields.js';
import type { JsonObject } from '../platform/common/json.js';
import { readInput } from '../platform/input/read-input.js';
import { useFile } from './named-file.js';

export interface Target {
  url?: string;
  key?: string;
  keyFile?: string;
  json?: true;
  reason?: string;
}

const TARGET_OPTIONS: ReadonlySet<string> = new Set(['url', 'key', 'keyFile', 'json', 'reason']);

/** File mode bits that give access to the group or to other users. */
const OTHERS = 0o077;

export const KEY = new Option('--key <key>', 'API key for the service at --url').env('ROLLCALL_KEY');
export const KEY_FILE = new Option(
  '--key-file <file>',
  'file with the API key, readable only by you ("-" for standard input)',
);

export const createCommand = (name: string, description: string): Command =>
  new Command(name)
    .description(description)
    .option('--url <url>', 'address of a running service, instead of the local database or service')
    .addOption(KEY)
    .addOption(KEY_FILE)
    .option('--json', 'print as JSON')
    .hook('preAction', (self) => {
      if (self.getOptionValue('url') !== undefined) return;
      // Without --url, a key in an option is an error. A key in ROLLCALL_KEY is not, because the variable may be set
      // for other commands.
      for (const flag of ['key', 'keyFile'])
        if (self.getOptionValueSource(flag) === 'cli')
          self.error(`error: option '${flag === 'key' ? '--key' : '--key-file'}' requires --url`);
    });

export const createWriteCommand = (name: string, description: string): Command =>
  createCommand(name, description).option('--reason <text>', 'reason for the change, for the audit log');

/** Converts options to fields of the API, such as `dryRun` to `dry_run`. Omits the options of `Target`. */
export function toFields(options: object): JsonObject {
  const isApiOption = ([name, value]: [string, unknown]) => value !== undefined && !TARGET_OPTIONS.has(name);
  const toFieldName = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  const sent = Object.entries(options).filter(isApiOption);
  return Object.fromEntries(sent.map(([name, value]) => [toFieldName(name), value]));
}

/**
 * Converts the options of a command to a query of the API. Ends the program if a value is invalid.
 * @param extraFields fields that are added to the query.
 */
export function toQuery(
  type: InputClass<object>,
  options: object,
  command: Command,
  extraFields = {},
): JsonObject {
  const query = { ...toFields(options), ...extraFields };
  assertValidFields(type, query, command);
  return query;
}

/** Validates fields by the rules of the API. Ends the program if a field is invalid. */
export function assertValidFields(type: InputClass<object>, fields: JsonObject, command: Command): void {
  const [fault] = readInput(type, fields).errors;
  if (fault) command.error(`error: option '--${fault.field.replaceAll('_', '-')}' ${fault.message}`);
}

/** Returns the API key for `--url`. @throws Error if there is no key, or if its file is empty or readable by others. */
export async function readKey({ key, keyFile }: Target): Promise<string> {
  const secret = keyFile === undefined ? key : await useFile(keyFile, () => readKeyFile(keyFile));
  if (!secret) throw new Error('--url needs an API key: --key, --key-file, or the variable ROLLCALL_KEY.');
  return secret;
}

async function readKeyFile(file: string): Promise<string> {
  if (file === '-') return (await text(process.stdin)).trim();
  const key = (await readFile(file, 'utf8')).trim();
  const { mode } = await stat(file);
  if ((mode & OTHERS) !== 0)
    throw new Error(`Other users can read ${file}. Run chmod 600 ${file}, and create a new key if needed.`);
  if (key === '') throw new Error(`${file} is empty. It must contain an API key.`);
  return key;
}
