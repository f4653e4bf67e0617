import { Command } from 'commander';
import { randomBytes } from 'node:crypto';
import { createInterface } from 'node:readline/promises';
import { PassThrough } from 'node:stream';
import type { JsonObject } from '../platform/common/json.js';
import { canonicalUuid, isUuid } from '../platform/common/uuid.js';
import { UserQuery } from '../users/search/user.query.js';
import { type DeletedPageDto, DeletedQuery, type UserDto, type UserPageDto } from '../users/user.view.js';
import type { Application } from './application.js';
import { minute, print, printMore, printNextOffset, table, writeOut } from './output.js';
import type { ServiceClient } from './service-client.js';
import { type Target, changingCommand, queryOf, targetCommand } from './target.js';

const HELP = `
Exit codes: 0 done; 1 a rule refused some of several users; 2 not done (wrong usage, nobody of that name, a rule, no database or service).`;
const WHO = 'uuid, username, e-mail address or external id';
const NAMES = ['username', 'email', 'external_id'] as const;
const HEAD = ['UUID', 'STATUS', 'USERNAME', 'E-MAIL', 'NAME', 'EXTERNAL ID', 'ROLES'];
const DELETED_HEAD = ['UUID', 'DELETED (UTC)', 'USERNAME', 'EXTERNAL ID'];
/** Exit codes where a rule refused some of several users, or all. */
const SOME_REFUSED = 1;
const NOTHING_DONE = 2;

export function usersCommand(application: Application): Command {
  const changing = (name: string, description: string, fields: JsonObject, done: string) =>
    changingCommand(name, description)
      .argument('<who...>', WHO)
      .action((names: string[], flags: Target) =>
        application.use(flags, (service) => changeEach(service, names, fields, done, flags)),
      );
  return new Command('users')
    .description('find, block and reactivate users, reset passwords, write a file, take back deleted ones')
    .addHelpText('after', HELP)
    .addCommand(find(application))
    .addCommand(
      targetCommand('show', 'one user')
        .argument('<who>', WHO)
        .action((who: string, flags: Target) =>
          application.use(flags, async (service) => {
            const user = await findUser(service, who);
            print(flags, user, table(Object.entries(user).flatMap(toLine)));
          }),
        ),
    )
    .addCommand(
      changing('block', 'block users, and end their sessions at once', { status: 'Blocked' }, 'blocked'),
    )
    .addCommand(changing('reactivate', 'let blocked users in again', { status: 'Active' }, 'active'))
    .addCommand(resetPassword(application))
    .addCommand(deleted(application))
    .addCommand(restore(application))
    .addCommand(
      targetCommand('export', 'write users as CSV, in the columns of an import: importing it changes nothing')
        .option('--all', 'also users without an external id')
        .option('--out <file>', 'to a file that only you can read, instead of standard output')
        .action(({ all, out, ...flags }: Target & { all?: true; out?: string }) =>
          application.use(flags, (service) =>
            writeOut(service.text('users/export.csv', { all: all === true }), out),
          ),
        ),
    );
}

const find = (application: Application) =>
  targetCommand('find', 'users with all of the words, and of the filters')
    .argument(
      '[words...]',
      'whole words of names, username, e-mail address, external id; jan* for beginnings',
    )
    .option('--status <status...>', 'Active or Blocked')
    .option('--role <role...>', 'several mean any of them')
    .option('--managed-by <dataset>', 'of one data set')
    .option('--manager-uuid <uuid>', 'who report to this user')
    .option('--sort <field>', 'such as surname or updated')
    .option('--order <order>', 'asc or desc')
    .option('--limit <number>', 'users, at most 100', '25')
    .option('--after <cursor>', 'the page behind another one')
    .action((words: string[], flags: Target, self: Command) => {
      const text = words.length > 0 ? { fulltext_search: words.join(' ') } : {};
      const query = queryOf(UserQuery, flags, self, text);
      return application.use(flags, async (service) => {
        const { next, ...page } = await service.page<UserPageDto>('users/search', query);
        print(flags, page, table([HEAD, ...page.Results.map(toRow)]));
        if (next !== undefined) printMore(page.Count, `--after ${next}`);
      });
    });

const resetPassword = (application: Application) =>
  changingCommand(
    'reset-password',
    'give a user a new password and end its sessions; it is shown only this once',
  )
    .argument('<who>', WHO)
    .option(
      '--stdin',
      'read the password from standard input, or ask for it at a terminal, instead of making one',
    )
    .action((who: string, flags: Target & { stdin?: true }) =>
      application.use(flags, async (service) => {
        const { uuid, username } = await findUser(service, who);
        const password = flags.stdin ? await readSecret() : generatePassword(service.passwordLength);
        await changeUser(service, uuid, { password });
        process.stderr.write(`${username} (${uuid}) has a new password, and no session any more.\n`);
        if (!flags.stdin) print(flags, { uuid, username, password }, `${password}\n`);
      }),
    );

const deleted = (application: Application) =>
  targetCommand('deleted', 'users that identity providers have deleted, in the order of deletion')
    .option('--since <time>', 'deleted at this time or later')
    .option('--limit <number>', 'users, at most 100', '25')
    .option('--offset <number>', 'users to leave out', '0')
    .action((flags: Target, self: Command) => {
      const query = queryOf(DeletedQuery, flags, self);
      return application.use(flags, async (service) => {
        const page = await service.json<DeletedPageDto>('GET', 'users/deleted', { query });
        const rows = page.Results.map((user) => [
          user.uuid,
          minute(user.deleted),
          user.username,
          user.external_id,
        ]);
        print(flags, page, table([DELETED_HEAD, ...rows]));
        printNextOffset(page, query['offset']);
      });
    });

const restore = (application: Application) =>
  changingCommand(
    'restore',
    'take back a deleted user, within SCIM_DELETED_DAYS days: as it was, without its groups',
  )
    .argument('<uuid>', 'as "users deleted" lists it')
    .action((text: string, flags: Target) => {
      const path = `users/${canonicalUuid('<uuid>', text)}/restore`;
      return application.use(flags, async (service) => {
        const user = await service.json<UserDto>('POST', path);
        print(flags, user, `${user.username} (${user.uuid}) is restored: ${user.status}.\n`);
      });
    });

const changeUser = (service: ServiceClient, uuid: string, body: JsonObject): Promise<UserDto> =>
  service.json('PUT', `users/${uuid}`, { body });

/** Finds all users before the first one is changed: a mistyped name changes no user. A refusal of one stops no other. */
async function changeEach(
  service: ServiceClient,
  names: string[],
  fields: JsonObject,
  done: string,
  { json }: Target,
): Promise<void> {
  const found: UserDto[] = [];
  for (const who of names) found.push(await findUser(service, who));
  const changed: UserDto[] = [];
  for (const { uuid, username } of found) {
    try {
      changed.push(await changeUser(service, uuid, fields));
      if (!json) process.stdout.write(`${username} (${uuid}) is ${done}.\n`);
    } catch (error) {
      process.exitCode = NOTHING_DONE;
      process.stderr.write(
        `${username} (${uuid}) is not: ${error instanceof Error ? error.message : String(error)}\n`,
      );
    }
  }
  if (changed.length > 0 && changed.length < found.length) process.exitCode = SOME_REFUSED;
  if (json) print({ json }, changed, '');
}

/** Finds the one user with a uuid, username, e-mail address or external id. @throws Error for none, and for several. */
async function findUser(service: ServiceClient, name: string): Promise<UserDto> {
  const found = new Map<string, UserDto>();
  let unknown = new Error(`No user has the uuid, username, e-mail address or external id "${name}".`);
  if (isUuid(name)) {
    try {
      return await service.json('GET', `users/${name.toLowerCase()}`);
    } catch (error) {
      if (error instanceof Error) unknown = error; // an external id may look like a uuid
    }
  }
  for (const field of NAMES) {
    const { Results } = await service.page<UserPageDto>('users/search', { [field]: name });
    for (const user of Results) found.set(user.uuid, user);
  }
  const [user, ...others] = found.values();
  if (!user) throw unknown;
  if (others.length > 0)
    throw new Error(`Several users have "${name}": ${[...found.keys()].join(', ')}. Name one by its uuid.`);
  return user;
}

function toRow(user: UserDto): string[] {
  const name = [user.firstname, user.surname].filter(Boolean).join(' ');
  return [user.uuid, user.status, user.username, user.email, name, user.external_id, user.roles.join(', ')];
}

/** Returns a field as a line of a table, none for an empty field. */
function toLine([field, value]: [string, unknown]): [string, string][] {
  if (typeof value === 'string') return value === '' ? [] : [[field, value]];
  if (typeof value === 'boolean') return value ? [[field, 'yes']] : [];
  if (typeof value !== 'object' || value === null) return [];
  if (Object.keys(value).length === 0) return [];
  return [[field, Array.isArray(value) ? value.join(', ') : JSON.stringify(value)]];
}

/** Characters that are not mistaken for one another; 32 of them, so that a byte gives each one as often. */
const ALPHABET = 'abcdefghijkmnpqrstuvwxyz23456789';
const GROUP_LENGTH = 4;
/** A group, but the last one. */
const GROUP = new RegExp(`.{${GROUP_LENGTH}}(?!$)`, 'g');
/** 120 bits. */
const MIN_GROUPS = 6;

/** Generates a random password in groups, such as `h7qm-x3vb`. @param length characters at the least. */
function generatePassword(length: number): string {
  const groups = Math.max(MIN_GROUPS, Math.ceil((length + 1) / (GROUP_LENGTH + 1)));
  const letters = [...randomBytes(groups * GROUP_LENGTH)].map((byte) => ALPHABET[byte % ALPHABET.length]);
  return letters.join('').replace(GROUP, '$&-');
}

/** Returns the first line of standard input; a terminal does not show what is typed. @throws Error for an empty one. */
async function readSecret(): Promise<string> {
  const { stdin } = process;
  if (stdin.isTTY) process.stderr.write('New password (it is not shown): ');
  const nowhere = new PassThrough().resume();
  const lines = createInterface({ input: stdin, output: nowhere, terminal: stdin.isTTY });
  let line = '';
  for await (line of lines) break;
  lines.close();
  if (stdin.isTTY) process.stderr.write('\n');
  if (line === '') throw new Error('Standard input has no password.');
  return line;
}
