import { Command, InvalidArgumentError, Option } from 'commander';
import { PROFILES, type Profile, type Scope } from '../access/actor.js';
import { ApiKeyInput, UNKNOWN_FIELDS } from '../api-keys/api-key.input.js';
import type { ApiKeyDto, ApiKeyPageDto, NewApiKeyDto } from '../api-keys/api-key.view.js';
import type { JsonObject } from '../platform/common/json.js';
import { type DbTime, now, secondsFrom, toDbTime, toIso, toMillis } from '../platform/common/time.js';
import { readInput } from '../platform/input/read-input.js';
import { MAX_LIMIT } from '../platform/http/page.js';
import type { Application } from './application.js';
import { minute, print, table } from './output.js';
import type { ServiceClient } from './service-client.js';
import { type Target, changingCommand, targetCommand } from './target.js';

const DAY_SECONDS = 24 * 60 * 60;
const EXIT_CODES = '\nExit codes: 0 done, 2 nothing done (wrong usage, no database, unknown id).';

interface CreateOptions extends Target {
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
  changingCommand('create', 'create a key; it is printed only once')
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
    .action((name: string, { expires, scope, network, unknownFields, profile, ...flags }: CreateOptions) =>
      application.use(flags, async (service) => {
        const body = {
          name,
          ...(expires !== undefined && { expires: toIso(expires) }),
          scopes: scope,
          networks: network,
          unknown_fields: unknownFields,
          profile,
        };
        const created = await service.json<NewApiKeyDto>('POST', 'api_keys', { body });
        print(flags, created, `${created.key}\n`);
        process.stderr.write(`This is key ${created.id}. It is shown only this once; keep it.\n`);
      }),
    );

const HEAD = ['ID', 'STATE', 'CREATED (UTC)', 'EXPIRES', 'LAST USED', 'FROM', 'SCOPES', 'NETWORKS', 'NAME'];

const list = (application: Application) =>
  targetCommand('list', 'all keys, newest first').action((flags: Target) =>
    application.use(flags, async (service) => {
      const keys = await listKeys(service);
      print(flags, keys, table([HEAD, ...keys.map(toRow)]));
    }),
  );

async function listKeys(service: ServiceClient): Promise<ApiKeyDto[]> {
  const keys: ApiKeyDto[] = [];
  for (;;) {
    const query = { offset: keys.length, limit: MAX_LIMIT };
    const { Count, Results } = await service.json<ApiKeyPageDto>('GET', 'api_keys', { query });
    keys.push(...Results);
    if (Results.length === 0 || keys.length >= Count) return keys;
  }
}

function toRow(key: ApiKeyDto): string[] {
  const { id, state, created, expires, last_used, last_address, scopes, networks, name } = key;
  return [
    id,
    state,
    minute(created),
    orNever(expires),
    orNever(last_used),
    last_address ?? '-',
    scopes?.join(',') ?? 'all',
    networks?.join(',') ?? 'any',
    name,
  ];
}

const orNever = (time: string | null): string => (time === null ? 'never' : minute(time));

const revoke = (application: Application) =>
  changingCommand('revoke', 'revoke a key permanently')
    .argument('<id>')
    .action((text: string, flags: Target) =>
      application.use(flags, async (service) => {
        const id = text.toLowerCase();
        const before = (await listKeys(service)).find((key) => key.id === id);
        if (!before) throw new Error(`There is no key ${id}; "rollcall keys list" shows all.`);
        await service.send('DELETE', `api_keys/${id}`);
        const how = before.state === 'revoked' ? 'was revoked before' : 'is revoked';
        print(flags, { id, state: 'revoked' }, `Key ${text} ${how}.\n`);
      }),
    );

const fuse = (application: Application) =>
  changingCommand('fuse', 'reset the fuse of a key: for an hour it may block any number of users')
    .argument('<id>')
    .action((text: string, flags: Target) =>
      application.use(flags, async (service) => {
        const id = text.toLowerCase();
        const path = `api_keys/${encodeURIComponent(id)}/fuse`;
        const { open_until } = await service.json<{ open_until: string }>('POST', path);
        const until = minute(open_until);
        print(flags, { key_id: id, open_until }, `The fuse of key ${text} is open until ${until} (UTC).\n`);
      }),
    );

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
