import { Command, InvalidArgumentError, Option } from 'commander';
import { PROFILES, type Profile } from '../access/profiles.js';
import type { Scope } from '../access/scopes.js';
import { ApiKeyInput, UNKNOWN_FIELDS } from '../api-keys/api-key.input.js';
import { presentApiKey } from '../api-keys/api-key.view.js';
import { type ApiKey, ApiKeysService } from '../api-keys/api-keys.service.js';
import { KeyFuse } from '../api-keys/fuse/key-fuse.service.js';
import type { JsonObject } from '../common/json.js';
import { type DbTime, now, secondsFrom, toDbTime, toMillis } from '../common/time.js';
import { readInput } from '../input/read-input.js';
import { CLI_CALLER, type Application, withApplication } from './application.js';
import { table } from './table.js';

const DAY_SECONDS = 24 * 60 * 60;
const EXIT_CODES = '\nExit codes: 0 done, 2 nothing done (wrong usage, no database, unknown id).';

interface CreateOptions {
  expires?: DbTime;
  scope?: Scope[];
  network?: string[];
  unknownFields?: (typeof UNKNOWN_FIELDS)[number];
  profile?: Profile;
}

export const keysCommand = (application: Application) =>
  new Command('keys')
    .description('API keys')
    .addHelpText('afterAll', EXIT_CODES)
    .addCommand(create(application))
    .addCommand(list(application))
    .addCommand(revoke(application))
    .addCommand(fuse(application));

const create = (application: Application) =>
  new Command('create')
    .description('create a key; it is printed only once')
    .argument('<name>', 'what it is for, 1 to 255 characters', parseName)
    .option(
      '--expires <when>',
      'a date (2027-01-31: ends as that day begins, UTC) or days from now (90d)',
      parseExpiry,
    )
    .option(
      '--scope <scope>',
      'what it may do, such as users:read; may be repeated; everything when not given',
      (text, earlier?: Scope[]) => parsed({ scopes: [...(earlier ?? []), text] }).scopes ?? [],
    )
    .option(
      '--network <network>',
      'from where it may be used, such as 10.0.0.0/8; may be repeated; anywhere when not given',
      (text, earlier?: string[]) => parsed({ networks: [...(earlier ?? []), text] }).networks ?? [],
    )
    .addOption(
      new Option('--unknown-fields <rule>', 'fields of a user that this service does not have').choices(
        UNKNOWN_FIELDS,
      ),
    )
    .addOption(
      new Option('--profile <profile>', 'the identity provider that uses it for SCIM').choices(PROFILES),
    )
    .action(async (name: string, { expires, scope, network, unknownFields, profile }: CreateOptions) => {
      await withApplication(application, async (context) => {
        const ignoresUnknownFields = unknownFields === 'ignore';
        const wanted = { name, expires, scopes: scope, networks: network, ignoresUnknownFields, profile };
        const { id, key } = await context.get(ApiKeysService).create(wanted, CLI_CALLER);
        process.stdout.write(`${key}\n`);
        process.stderr.write(`This is key ${id}. It is shown only this once; keep it.\n`);
      });
    });

const HEAD = ['ID', 'STATE', 'CREATED (UTC)', 'EXPIRES', 'LAST USED', 'FROM', 'SCOPES', 'NETWORKS', 'NAME'];

const list = (application: Application) =>
  new Command('list')
    .description('all keys, newest first')
    .option('--json', 'as JSON')
    .action(async ({ json }: { json?: true }) => {
      await withApplication(application, async (context) => {
        const keys = await context.get(ApiKeysService).list();
        process.stdout.write(
          json ? `${JSON.stringify(keys.map(presentApiKey), null, 2)}\n` : table([HEAD, ...keys.map(toRow)]),
        );
      });
    });

function toRow(key: ApiKey): string[] {
  const { id, state, created, expires, last_used, last_address, scopes, networks, name } = key;
  return [
    id,
    state,
    created.slice(0, 16),
    expires?.slice(0, 16) ?? 'never',
    last_used?.slice(0, 16) ?? 'never',
    last_address ?? '-',
    scopes?.join(',') ?? 'all',
    networks?.join(',') ?? 'any',
    name,
  ];
}

const revoke = (application: Application) =>
  new Command('revoke')
    .description('revoke a key permanently')
    .argument('<id>')
    .action(async (id: string) => {
      await withApplication(application, async (context) => {
        const before = await context.get(ApiKeysService).revoke(id.toLowerCase(), CLI_CALLER);
        if (before === undefined) throw new Error(`There is no key ${id}; "rollcall keys list" shows all.`);
        process.stdout.write(
          before === 'revoked' ? `Key ${id} was revoked before.\n` : `Key ${id} is revoked.\n`,
        );
      });
    });

const fuse = (application: Application) =>
  new Command('fuse')
    .description('reset the fuse of a key: for an hour it may block any number of users')
    .argument('<id>')
    .action(async (id: string) => {
      await withApplication(application, async (context) => {
        const until = await context.get(KeyFuse).reset(id.toLowerCase(), CLI_CALLER);
        if (until === undefined) throw new Error(`There is no key ${id}; "rollcall keys list" shows all.`);
        process.stdout.write(`The fuse of key ${id} is open until ${until.slice(0, 16)} (UTC).\n`);
      });
    });

/** The name of a key, by the rules of the API. @throws InvalidArgumentError */
export const parseName = (text: string): string => parsed({ name: text }).name;

/** A part of a key, by the rules of the API. @throws InvalidArgumentError */
function parsed(part: JsonObject): ApiKeyInput {
  const { value, errors } = readInput(ApiKeyInput, { name: 'a key', ...part });
  const [fault] = errors;
  if (fault) throw new InvalidArgumentError(`${fault.field} ${fault.message}.`);
  return value;
}

/** When a key expires: at a future date, or a number of days from now. @throws InvalidArgumentError */
export function parseExpiry(text: string): DbTime {
  const days = /^([1-9]\d{0,4})d$/.exec(text)?.[1];
  if (days !== undefined) return secondsFrom(now(), Number(days) * DAY_SECONDS);
  const day = `${text} 00:00:00.000`;
  const known = /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(toMillis(day));
  // Compared with the argument, because `Date` reads 31 February as a day in March.
  if (!known || toDbTime(new Date(toMillis(day))) !== day || day <= now()) {
    throw new InvalidArgumentError(
      'It must be a future date such as 2027-01-31, or a number of days such as 90d.',
    );
  }
  return day;
}
