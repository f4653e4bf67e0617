import { Command } from 'commander';
import { randomBytes } from 'node:crypto';
import type { JsonObject } from '../common/json.js';
import type { UserDto } from '../users/user.view.js';
import { UserQuery } from '../users/search/user.query.js';
import type { Application } from './application.js';
import { queryOf } from './query-of.js';
import { type Access, type Place, atPlace, placedCommand } from './remote-service.js';
import { table } from './table.js';
import { LocalUsers, RemoteUsers, type UsersAccess, userNamed } from './users-access.js';

interface Flags extends Place {
  json?: true;
}

const ACCESS: Access<UsersAccess> = {
  local: (context) => new LocalUsers(context),
  remote: (service) => new RemoteUsers(service),
};
const WHO = 'uuid, username, e-mail address or external id';
const HEAD = ['UUID', 'STATUS', 'USERNAME', 'E-MAIL', 'NAME', 'EXTERNAL ID', 'ROLES'];
/** 120 bits, in words of characters that are not mistaken for one another. */
const ALPHABET = 'abcdefghijkmnpqrstuvwxyz23456789';
const GROUPS = 6;
const OF_A_GROUP = 4;

/** Commands about single users: find them, look at them, block them, give them a new password. */
export function peopleCommands(application: Application): Command[] {
  const using = (flags: Flags, work: (users: UsersAccess) => Promise<void>): Promise<void> =>
    atPlace(application, flags, ACCESS, work);
  const changing = (name: string, description: string, fields: JsonObject, done: string) =>
    placedCommand(name, description)
      .argument('<who...>', WHO)
      .action((names: string[], flags: Flags) =>
        using(flags, async (users) => {
          // All are found before the first one is changed: a mistyped name changes nobody.
          const found: UserDto[] = [];
          for (const who of names) found.push(await userNamed(users, who));
          const changed: UserDto[] = [];
          try {
            for (const { uuid } of found) {
              const user = await users.change(uuid, fields);
              changed.push(user);
              if (!flags.json) process.stdout.write(`${user.username} (${user.uuid}) is ${done}.\n`);
            }
          } finally {
            if (flags.json && changed.length > 0) process.stdout.write(toJson(changed));
          }
        }),
      );
  return [
    placedCommand('find', 'users with all of the words, and of the filters')
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
      .action((words: string[], flags: Flags, self: Command) =>
        using(flags, async (users) => {
          const text = words.length > 0 ? { fulltext_search: words.join(' ') } : {};
          const { Count, Results, next } = await users.search(queryOf(UserQuery, flags, self, text));
          process.stdout.write(
            flags.json ? toJson({ Count, Results }) : table([HEAD, ...Results.map(toRow)]),
          );
          if (next !== undefined) process.stderr.write(`There are ${Count}: --after ${next}\n`);
        }),
      ),
    placedCommand('show', 'one user')
      .argument('<who>', WHO)
      .action((who: string, flags: Flags) =>
        using(flags, async (users) => {
          const user = await userNamed(users, who);
          process.stdout.write(flags.json ? toJson(user) : table(Object.entries(user).flatMap(toLine)));
        }),
      ),
    changing('block', 'block users, and end their sessions at once', { status: 'Blocked' }, 'blocked'),
    changing('reactivate', 'let blocked users in again', { status: 'Active' }, 'active'),
    placedCommand(
      'reset-password',
      'give a user a new password and end its sessions; it is shown only this once',
    )
      .argument('<who>', WHO)
      .option('--stdin', 'read the password from standard input instead of making one')
      .action((who: string, flags: Flags & { stdin?: true }) =>
        using(flags, async (users) => {
          const { uuid, username } = await userNamed(users, who);
          const password = flags.stdin ? await readLine() : newPassword();
          await users.change(uuid, { password });
          process.stderr.write(`${username} (${uuid}) has a new password, and no session any more.\n`);
          if (flags.stdin) return;
          process.stdout.write(flags.json ? toJson({ uuid, username, password }) : `${password}\n`);
        }),
      ),
  ];
}

function toRow(user: UserDto): string[] {
  const name = [user.firstname, user.surname].filter(Boolean).join(' ');
  return [user.uuid, user.status, user.username, user.email, name, user.external_id, user.roles.join(', ')];
}

/** A field for people: without those that are empty. */
function toLine([field, value]: [string, unknown]): [string, string][] {
  if (typeof value === 'string') return value === '' ? [] : [[field, value]];
  if (typeof value === 'boolean') return value ? [[field, 'yes']] : [];
  if (typeof value !== 'object' || value === null) return [];
  if (Object.keys(value).length === 0) return [];
  return [[field, Array.isArray(value) ? value.join(', ') : JSON.stringify(value)]];
}

function newPassword(): string {
  const letters = Array.from(
    randomBytes(GROUPS * OF_A_GROUP),
    (byte) => ALPHABET[byte % ALPHABET.length] ?? '',
  );
  const groups = Array.from({ length: GROUPS }, (_, n) =>
    letters.slice(n * OF_A_GROUP, (n + 1) * OF_A_GROUP),
  );
  return groups.map((group) => group.join('')).join('-');
}

/** The first line of standard input. @throws Error for none. */
async function readLine(): Promise<string> {
  let text = '';
  for await (const piece of process.stdin.setEncoding('utf8')) {
    text += String(piece);
    if (text.includes('\n')) break;
  }
  const line = text.replace(/\r?\n[^]*$/, '');
  if (line === '') throw new Error('Standard input has no password.');
  return line;
}

const toJson = (value: object): string => `${JSON.stringify(value, null, 2)}\n`;
