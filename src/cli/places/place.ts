import type { INestApplicationContext } from '@nestjs/common';
import { Command, Option } from 'commander';
import { open } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import type { Caller } from '../../access/actor.js';
import { checkedReason } from '../../platform/http/request-headers.js';
import { type Application, CLI_CALLER, withApplication } from '../application.js';
import { RemoteService } from './remote-service.js';

/** Where a command works: the database of these settings, or a running service. */
export interface Place {
  url?: string;
  key?: string;
  keyFile?: string;
  json?: true;
  /** Why, for the audit, of a command that changes something. */
  reason?: string;
}

/** Flags of a place, which are no part of a query. */
export const PLACE_FLAGS: ReadonlySet<string> = new Set(['url', 'key', 'keyFile', 'json', 'reason']);

/** Rights of a file that let others in. */
const OTHERS = 0o077;

/** A command with the options of `Place`. */
export const placedCommand = (name: string, description: string): Command =>
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

/** As `placedCommand`, of a command that changes something. */
export const changingCommand = (name: string, description: string): Command =>
  placedCommand(name, description).option('--reason <text>', 'why, for the audit');

/** What serves one and the same task at the two places. */
export interface Access<T> {
  local: (context: INestApplicationContext, caller: Caller) => T;
  remote: (service: RemoteService) => T;
}

/** Works at a place, and says on standard error which one it is. @throws Error for a service without a key. */
export async function atPlace<T>(
  application: Application,
  { url, key, keyFile, json, reason: why = '' }: Place,
  { local, remote }: Access<T>,
  work: (access: T) => Promise<void>,
): Promise<void> {
  const reason = checkedReason(why, '--reason');
  const caller = reason === undefined ? CLI_CALLER : { ...CLI_CALLER, reason };
  if (url === undefined)
    return withApplication(application, (context) => work(local(context, caller)), { quiet: json });
  const secret = keyFile === undefined ? key : await keyOf(keyFile);
  if (!secret) throw new Error('--url needs an API key: --key, --key-file, or the variable ROLLCALL_KEY.');
  const service = new RemoteService(url, secret, reason);
  if (!json) process.stderr.write(`Service: ${service.base.origin}\n`);
  return work(remote(service));
}

/** @throws Error for a file that others can read, or that holds nothing. */
async function keyOf(file: string): Promise<string> {
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
