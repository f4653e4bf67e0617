import { Command } from 'commander';
import type { JsonObject } from '../platform/common/json.js';
import type { UserDto } from '../users/user.view.js';
import { UserQuery } from '../users/search/user.query.js';
import type { Application } from './application.js';
import { queryOf } from './places/query-of.js';
import { type Place, atPlace, changingCommand, placedCommand } from './places/place.js';
import { newPassword, readSecret } from './secret-input.js';
import { table, toJson } from './table.js';
import { USERS, type UsersAccess, userNamed } from './places/users-access.js';

type Flags = Place;

const WHO = 'uuid, username, e-mail address or external id';
const HEAD = ['UUID', 'STATUS', 'USERNAME', 'E-MAIL', 'NAME', 'EXTERNAL ID', 'ROLES'];
/** Exit codes where a rule refused some of several users, or all. */
const SOME_REFUSED = 1;
const NOTHING_DONE = 2;

/** Commands about single users: find them, look at them, block them, give them a new password. */
export function peopleCommands(application: Application): Command[] {
  const using = (flags: Flags, work: (users: UsersAccess) => Promise<void>): Promise<void> =>
    atPlace(application, flags, USERS, work);
  const changing = (name: string, description: string, fields: JsonObject, done: string) =>
    changingCommand(name, description)
      .argument('<who...>', WHO)
      .action((names: string[], flags: Flags) =>
        using(flags, (users) => changeEach(users, names, fields, done, flags)),
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
    changingCommand(
      'reset-password',
      'give a user a new password and end its sessions; it is shown only this once',
    )
      .argument('<who>', WHO)
      .option(
        '--stdin',
        'read the password from standard input, or ask for it at a terminal, instead of making one',
      )
      .action((who: string, flags: Flags & { stdin?: true }) =>
        using(flags, async (users) => {
          const { uuid, username } = await userNamed(users, who);
          const password = flags.stdin ? await readSecret() : newPassword(users.passwordLength);
          await users.change(uuid, { password });
          process.stderr.write(`${username} (${uuid}) has a new password, and no session any more.\n`);
          if (flags.stdin) return;
          process.stdout.write(flags.json ? toJson({ uuid, username, password }) : `${password}\n`);
        }),
      ),
  ];
}

/** All are found before the first one is changed: a mistyped name changes nobody. One that is refused stops no other. */
async function changeEach(
  users: UsersAccess,
  names: string[],
  fields: JsonObject,
  done: string,
  { json }: Flags,
): Promise<void> {
  const found: UserDto[] = [];
  for (const who of names) found.push(await userNamed(users, who));
  const changed: UserDto[] = [];
  for (const { uuid, username } of found) {
    try {
      changed.push(await users.change(uuid, fields));
      if (!json) process.stdout.write(`${username} (${uuid}) is ${done}.\n`);
    } catch (error) {
      process.exitCode = NOTHING_DONE;
      process.stderr.write(
        `${username} (${uuid}) is not: ${error instanceof Error ? error.message : String(error)}\n`,
      );
    }
  }
  if (changed.length > 0 && changed.length < found.length) process.exitCode = SOME_REFUSED;
  if (json) process.stdout.write(toJson(changed));
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
