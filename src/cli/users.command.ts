import { Command } from 'commander';
import { messageOf } from '../platform/common/errors.js';
import { foldCase } from '../platform/common/text.js';
import { isUuid } from '../platform/common/uuid.js';
import { UserQuery } from '../users/search/user.query.js';
import { NewUserInput } from '../users/rules/user.input.js';
import {
  type DeletedPageDto,
  DeletedQuery,
  type GeneratedPasswordDto,
  type UserDto,
  type UserPageDto,
  type UserUuidDto,
} from '../users/user.view.js';
import type { UserStatus } from '../users/model/formats.js';
import type { Application } from './application.js';
import { changeEach, formatMinute, print, printPage, toTable, writeTextTo } from './output.js';
import { type ServiceClient, ServiceError } from './service-client.js';
import { type Target, createWriteCommand, toQuery, createCommand } from './target.js';

const HELP = `
Exit codes: 0 done, 1 some of several users could not be changed, 2 nothing done (invalid usage, unknown user, broken rule,
no database or service).`;
const WHO = 'UUID, username, e-mail address or external id';
const NAMES = ['username', 'email', 'external_id'] as const;
const HEAD = ['UUID', 'STATUS', 'USERNAME', 'E-MAIL', 'NAME', 'EXTERNAL ID', 'ROLES'];
const DELETED_HEAD = ['UUID', 'DELETED (UTC)', 'USERNAME', 'EXTERNAL ID'];

export const createUsersCommand = (application: Application) =>
  new Command('users')
    .description(
      'find, show, create, block, reactivate, delete, restore and export users, and reset passwords',
    )
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
    .addCommand(createCreateCommand(application))
    .addCommand(createStatusCommand(application, 'block', 'block users and end their sessions', 'Blocked'))
    .addCommand(createStatusCommand(application, 'reactivate', 'reactivate blocked users', 'Active'))
    .addCommand(createResetPasswordCommand(application))
    .addCommand(createDeleteCommand(application))
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

const createFindCommand = (application: Application) =>
  createCommand('find', 'find users by a text and filters')
    .argument('[text...]', 'start of each word, @ and an e-mail domain, end of a phone number, or id')
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

const createCreateCommand = (application: Application) =>
  createWriteCommand('create', 'create a user')
    .requiredOption('--username <name>', 'username, which must be unique')
    .requiredOption('--email <address>', 'e-mail address, which must be unique')
    .option('--external-id <id>', 'id of the user in the identity source')
    .option('--firstname <name>', 'first name')
    .option('--surname <name>', 'surname')
    .option('--known-as <name>', 'name that the user prefers')
    .option('--phone <number>', 'phone number')
    .option('--mobile <number>', 'mobile number')
    .option('--roles <role...>', 'roles, instead of the default role')
    .option('--status <status>', 'status: Active or Blocked')
    .option('--manager <who>', `manager: ${WHO}`)
    .action(({ manager, ...flags }: Target & { manager?: string }, self: Command) => {
      const fields = toQuery(NewUserInput, flags, self);
      return application.runWithClient(flags, async (service) => {
        const chosen = manager === undefined ? {} : { manager_uuid: (await findUser(service, manager)).uuid };
        const body = { ...fields, ...chosen };
        const { uuid } = await service.requestJson<UserUuidDto>('POST', 'users', { body });
        const user = await service.requestJson<UserDto>('GET', `users/${uuid}`);
        print(flags, user, `${user.username} (${uuid}) was created.\n`);
      });
    });

const createStatusCommand = (
  application: Application,
  name: string,
  description: string,
  status: UserStatus,
) =>
  createChangeCommand(application, name, description, status.toLowerCase(), (service, { uuid }) =>
    service.requestJson('PUT', `users/${uuid}`, { body: { status } }),
  );

const createDeleteCommand = (application: Application) =>
  createChangeCommand(
    application,
    'delete',
    'delete users, who can be restored for SCIM_DELETED_DAYS days',
    'deleted',
    async (service, user) => {
      await service.send('DELETE', `users/${user.uuid}`);
      return user;
    },
  );

const createResetPasswordCommand = (application: Application) =>
  createWriteCommand(
    'reset-password',
    'set a new password, shown only once, and end all sessions of the user',
  )
    .argument('<who>', WHO)
    .option('--no-must-change', 'do not ask for a change of the generated password at the next login')
    .action((who: string, flags: Target & { mustChange: boolean }) =>
      application.runWithClient(flags, async (service) => {
        const { uuid, username } = await findUser(service, who);
        const path = `users/${uuid}/password`;
        const body = { must_change: flags.mustChange };
        const { password } = await service.requestJson<GeneratedPasswordDto>('POST', path, { body });
        process.stderr.write(`${username} (${uuid}) has a new password. All their sessions have ended.\n`);
        print(flags, { uuid, username, password }, `${password}\n`);
      }),
    );

const createDeletedCommand = (application: Application) =>
  createCommand('deleted', 'list deleted users in the order of deletion')
    .option('--since <time>', 'only users deleted at or after this time')
    .option('--search <words>', 'only users with these words in a name, address or external id')
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
  createChangeCommand(
    application,
    'restore',
    'restore users who were deleted in the last SCIM_DELETED_DAYS days, without the group memberships',
    'restored',
    (service, { uuid }) => service.requestJson('POST', `users/${uuid}/restore`),
    findDeletedUser,
  );

/** Creates a command that changes several users one after another. @param done describes a user after the change. */
const createChangeCommand = (
  application: Application,
  name: string,
  description: string,
  done: string,
  change: (service: ServiceClient, user: UserDto) => Promise<UserDto>,
  find = findUser,
) =>
  createWriteCommand(name, description)
    .argument('<who...>', WHO)
    .action((names: string[], flags: Target) =>
      application.runWithClient(flags, async (service) => {
        const changed = await changeEach(names, async (who) => {
          const found = await find(service, who);
          const label = `${found.username} (${found.uuid})`;
          const user = await change(service, found).catch((error: unknown) => {
            throw new Error(`${label} was not changed: ${messageOf(error)}`);
          });
          if (!flags.json) process.stdout.write(`${label} is ${done}.\n`);
          return user;
        });
        if (flags.json) print(flags, changed, '');
      }),
    );

/** Finds a deleted user by the exact UUID, username, e-mail address or external id. */
async function findDeletedUser(service: ServiceClient, name: string): Promise<UserDto> {
  const query = isUuid(name) ? { uuid: name } : { search: name };
  const { Results } = await service.getPage<DeletedPageDto>('users/deleted', query);
  const isNamed = (user: UserDto): boolean =>
    isUuid(name) || NAMES.some((field) => foldCase(user[field]) === foldCase(name));
  const [user, ...others] = Results.filter(isNamed);
  if (!user)
    throw new Error(`No deleted user has the UUID, username, e-mail address or external id "${name}".`);
  if (others.length === 0) return user;
  throw new Error(`Several deleted users match "${name}". Use a UUID as listed by "users deleted".`);
}

async function findUser(service: ServiceClient, name: string): Promise<UserDto> {
  const found = new Map<string, UserDto>();
  if (isUuid(name)) {
    try {
      return await service.requestJson('GET', `users/${name.toLowerCase()}`);
    } catch (error) {
      // Continue, because the name may be an external id that looks like a UUID.
      if (!(error instanceof ServiceError) || error.status !== 404) throw error;
    }
  }
  for (const field of NAMES) {
    const { Results } = await service.getPage<UserPageDto>('users/search', { [field]: name });
    for (const user of Results) found.set(user.uuid, user);
  }
  const [user, ...others] = found.values();
  if (!user) throw new Error(`No user has the UUID, username, e-mail address or external id "${name}".`);
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
