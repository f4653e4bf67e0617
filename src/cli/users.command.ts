import { Command } from 'commander';
import { randomBytes } from 'node:crypto';
import { createInterface } from 'node:readline/promises';
import { PassThrough } from 'node:stream';
import { messageOf } from '../platform/common/errors.js';
import type { JsonObject } from '../platform/common/json.js';
import { toCanonicalUuid, isUuid } from '../platform/common/uuid.js';
import { UserQuery } from '../users/search/user.query.js';
import { type DeletedPageDto, DeletedQuery, type UserDto, type UserPageDto } from '../users/user.view.js';
import type { UserStatus } from '../users/model/formats.js';
import type { Application } from './application.js';
import { changeEach, formatMinute, print, printPage, toTable, writeTextTo } from './output.js';
import type { ServiceClient } from './service-client.js';
import { type Target, createWriteCommand, toQuery, createCommand } from './target.js';

const HELP = `
Exit codes: 0 done, 1 some of several users could not be changed, 2 nothing done (invalid usage, unknown user, broken rule,
no database or service).`;
const WHO = 'UUID, username, e-mail address or external id';
const NAMES = ['username', 'email', 'external_id'] as const;
const HEAD = ['UUID', 'STATUS', 'USERNAME', 'E-MAIL', 'NAME', 'EXTERNAL ID', 'ROLES'];
const DELETED_HEAD = ['UUID', 'DELETED (UTC)', 'USERNAME', 'EXTERNAL ID'];

export function createUsersCommand(application: Application): Command {
  const createStatusCommand = (name: string, description: string, status: UserStatus) =>
    createWriteCommand(name, description)
      .argument('<who...>', WHO)
      .action((names: string[], flags: Target) =>
        application.runWithClient(flags, (service) => setStatus(service, names, status, flags.json)),
      );
  return new Command('users')
    .description('find, show, block, reactivate, export and restore users, and reset passwords')
    .addHelpText('after', HELP)
    .addCommand(createFindCommand(application))
    .addCommand(
      createCommand('show', 'show one user')
        .argument('<who>', WHO)
        .action((who: string, flags: Target) =>
          application.runWithClient(flags, async (service) => {
            const user = await findUser(service, who);
            print(flags, user, toTable(Object.entries(user).flatMap(toTableRows)));
          }),
        ),
    )
    .addCommand(createStatusCommand('block', 'block users and end their sessions', 'Blocked'))
    .addCommand(createStatusCommand('reactivate', 'reactivate blocked users', 'Active'))
    .addCommand(createResetPasswordCommand(application))
    .addCommand(createDeletedCommand(application))
    .addCommand(createRestoreCommand(application))
    .addCommand(
      createCommand('export', 'export users as a CSV file that can be imported')
        .option('--all', 'include users without an external id')
        .option('--out <file>', 'write to a file readable only by you, instead of standard output')
        .action(({ all, out, ...flags }: Target & { all?: true; out?: string }) =>
          application.runWithClient(flags, (service) =>
            writeTextTo(service.getText('users/export.csv', { all: all === true }), out),
          ),
        ),
    );
}

const createFindCommand = (application: Application) =>
  createCommand('find', 'find users by a text and filters')
    .argument('[text...]', 'beginnings of words, @ and an e-mail domain, the end of a phone number, or an id')
    .option('--email-domain <domain>', 'only users with an e-mail address in this domain')
    .option('--phone <digits>', 'only users whose phone or mobile number ends with these digits')
    .option('--status <status...>', 'status: Active or Blocked')
    .option('--role <role...>', 'only users with one of these roles')
    .option('--managed-by <dataset>', 'only users of this data set')
    .option('--manager-uuid <uuid>', 'only users who report to this manager')
    .option('--sort <field>', 'field to sort by, such as surname or updated')
    .option('--order <order>', 'sort order: asc or desc')
    .option('--limit <number>', 'number of users, at most 100', '25')
    .option('--after <cursor>', 'cursor that was printed after the previous page')
    .action((words: string[], flags: Target, self: Command) => {
      const text = words.length > 0 ? { find: words.join(' ') } : {};
      const query = toQuery(UserQuery, flags, self, text);
      const formatUsers = (users: UserDto[]) => toTable([HEAD, ...users.map(toRow)]);
      return printPage(application, flags, 'users/search', query, formatUsers);
    });

const createResetPasswordCommand = (application: Application) =>
  createWriteCommand(
    'reset-password',
    'set a new password, shown only once, and end all sessions of the user',
  )
    .argument('<who>', WHO)
    .option('--stdin', 'read the password from standard input, or ask for it, instead of generating one')
    .action((who: string, flags: Target & { stdin?: true }) =>
      application.runWithClient(flags, async (service) => {
        const { uuid, username } = await findUser(service, who);
        const password = flags.stdin ? await readPassword() : generatePassword(service.passwordLength);
        await changeUser(service, uuid, { password });
        process.stderr.write(`${username} (${uuid}) has a new password. All their sessions have ended.\n`);
        if (!flags.stdin) print(flags, { uuid, username, password }, `${password}\n`);
      }),
    );

const createDeletedCommand = (application: Application) =>
  createCommand('deleted', 'list users deleted by identity providers, in the order of deletion')
    .option('--since <time>', 'only users deleted at or after this time')
    .option('--limit <number>', 'number of users, at most 100', '25')
    .option('--offset <number>', 'number of users to skip', '0')
    .action((flags: Target, self: Command) =>
      printPage(application, flags, 'users/deleted', toQuery(DeletedQuery, flags, self), formatDeletedUsers),
    );

function formatDeletedUsers(users: DeletedPageDto['Results']): string {
  const rows = users.map((user) => [user.uuid, formatMinute(user.deleted), user.username, user.external_id]);
  return toTable([DELETED_HEAD, ...rows]);
}

const createRestoreCommand = (application: Application) =>
  createWriteCommand(
    'restore',
    'restore a user who was deleted in the last SCIM_DELETED_DAYS days, without the group memberships',
  )
    .argument('<uuid>', 'UUID as listed by "users deleted"')
    .action((text: string, flags: Target) => {
      const path = `users/${toCanonicalUuid('<uuid>', text)}/restore`;
      return application.runWithClient(flags, async (service) => {
        const user = await service.requestJson<UserDto>('POST', path);
        print(flags, user, `${user.username} (${user.uuid}) was restored. Status: ${user.status}.\n`);
      });
    });

const changeUser = (service: ServiceClient, uuid: string, body: JsonObject): Promise<UserDto> =>
  service.requestJson('PUT', `users/${uuid}`, { body });

async function setStatus(service: ServiceClient, names: string[], status: UserStatus, json?: true) {
  const changed = await changeEach(names, async (who) => {
    const { uuid, username } = await findUser(service, who);
    const user = await changeUser(service, uuid, { status }).catch((error: unknown) => {
      throw new Error(`${username} (${uuid}) was not changed: ${messageOf(error)}`);
    });
    if (!json) process.stdout.write(`${username} (${uuid}) is ${status.toLowerCase()}.\n`);
    return user;
  });
  if (json) print({ json }, changed, '');
}

async function findUser(service: ServiceClient, name: string): Promise<UserDto> {
  const found = new Map<string, UserDto>();
  let unknown = new Error(`No user has the UUID, username, e-mail address or external id "${name}".`);
  if (isUuid(name)) {
    try {
      return await service.requestJson('GET', `users/${name.toLowerCase()}`);
    } catch (error) {
      // Continue, because the name may be an external id that looks like a UUID.
      if (error instanceof Error) unknown = error;
    }
  }
  for (const field of NAMES) {
    const { Results } = await service.getPage<UserPageDto>('users/search', { [field]: name });
    for (const user of Results) found.set(user.uuid, user);
  }
  const [user, ...others] = found.values();
  if (!user) throw unknown;
  if (others.length === 0) return user;
  throw new Error(`Several users match "${name}": ${[...found.keys()].join(', ')}. Use one of these UUIDs.`);
}

function toRow(user: UserDto): string[] {
  const name = [user.firstname, user.surname].filter(Boolean).join(' ');
  return [user.uuid, user.status, user.username, user.email, name, user.external_id, user.roles.join(', ')];
}

function toTableRows([field, value]: [string, unknown]): [string, string][] {
  if (typeof value === 'string') return value === '' ? [] : [[field, value]];
  if (typeof value === 'boolean') return value ? [[field, 'yes']] : [];
  if (typeof value !== 'object' || value === null || Object.keys(value).length === 0) return [];
  return [[field, Array.isArray(value) ? value.join(', ') : JSON.stringify(value)]];
}

/**
 * 32 characters that are hard to confuse. A random byte selects each character with the same probability, because 256
 * is a multiple of 32.
 */
const ALPHABET = 'abcdefghijkmnpqrstuvwxyz23456789';
const GROUP_LENGTH = 4;
const GROUP = new RegExp(`.{${GROUP_LENGTH}}(?!$)`, 'g');
/** Minimum number of character groups in a generated password. Six groups have 120 bits of entropy. */
const MIN_GROUPS = 6;

/** Generates a random password in groups, such as `h7qm-x3vb`. @param length minimum number of characters. */
function generatePassword(length: number): string {
  const groups = Math.max(MIN_GROUPS, Math.ceil((length + 1) / (GROUP_LENGTH + 1)));
  const letters = [...randomBytes(groups * GROUP_LENGTH)].map((byte) => ALPHABET[byte % ALPHABET.length]);
  return letters.join('').replace(GROUP, '$&-');
}

/**
 * Reads a password from the first line of standard input. A terminal does not show the typed password.
 * @throws Error if the password is empty.
 */
async function readPassword(): Promise<string> {
  const { stdin } = process;
  if (stdin.isTTY) process.stderr.write('New password (not shown): ');
  const nowhere = new PassThrough().resume();
  const lines = createInterface({ input: stdin, output: nowhere, terminal: stdin.isTTY });
  let line = '';
  for await (line of lines) break;
  lines.close();
  if (stdin.isTTY) process.stderr.write('\n');
  if (line === '') throw new Error('Standard input contains no password.');
  return line;
}
