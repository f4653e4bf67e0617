import { Command, InvalidArgumentError, Option } from 'commander';
import { PROFILES, type Profile, type Scope } from '../access/actor.js';
import { ApiKeyInput, UNKNOWN_FIELDS } from '../api-keys/api-key.input.js';
import type { ApiKeyDto } from '../api-keys/api-keys.docs.js';
import type { JsonObject } from '../platform/common/json.js';
import { type DbTime, now, secondsFrom, toDbTime, toMillis } from '../platform/common/time.js';
import { readInput } from '../platform/input/read-input.js';
import type { Application } from './application.js';
import { type KeysAccess, LocalKeys, RemoteKeys } from './places/keys-access.js';
import { type Access, type Place, atPlace, changingCommand, placedCommand } from './places/place.js';
import { table, toJson } from './table.js';

const DAY_SECONDS = 24 * 60 * 60;
const EXIT_CODES = '\nExit codes: 0 done, 2 nothing done (wrong usage, no database, unknown id).';

interface CreateOptions extends Place {
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
    .action((name: string, { expires, scope, network, unknownFields, profile, ...place }: CreateOptions) =>
      using(application, place, async (keys) => {
        const asked = {
          name,
          expires,
          scopes: scope,
          networks: network,
          unknown_fields: unknownFields,
          profile,
        };
        const made = await keys.create(asked);
        if (place.json) process.stdout.write(toJson(made));
        else process.stdout.write(`${made.key}\n`);
        process.stderr.write(`This is key ${made.id}. It is shown only this once; keep it.\n`);
      }),
    );

const HEAD = ['ID', 'STATE', 'CREATED (UTC)', 'EXPIRES', 'LAST USED', 'FROM', 'SCOPES', 'NETWORKS', 'NAME'];

const list = (application: Application) =>
  placedCommand('list', 'all keys, newest first').action((place: Place) =>
    using(application, place, async (access) => {
      const keys = await access.list();
      process.stdout.write(place.json ? toJson(keys) : table([HEAD, ...keys.map(toRow)]));
    }),
  );

function toRow(key: ApiKeyDto): string[] {
  const { id, state, created, expires, last_used, last_address, scopes, networks, name } = key;
  return [
    id,
    state,
    minute(created),
    minute(expires),
    minute(last_used),
    last_address ?? '-',
    scopes?.join(',') ?? 'all',
    networks?.join(',') ?? 'any',
    name,
  ];
}

const minute = (time: string | null): string => time?.slice(0, 16).replace('T', ' ') ?? 'never';

const revoke = (application: Application) =>
  changingCommand('revoke', 'revoke a key permanently')
    .argument('<id>')
    .action((id: string, place: Place) =>
      using(application, place, async (keys) => {
        const wasRevoked = await keys.revoke(id.toLowerCase());
        if (place.json) process.stdout.write(toJson({ id: id.toLowerCase(), state: 'revoked' }));
        else process.stdout.write(wasRevoked ? `Key ${id} was revoked before.\n` : `Key ${id} is revoked.\n`);
      }),
    );

const fuse = (application: Application) =>
  changingCommand('fuse', 'reset the fuse of a key: for an hour it may block any number of users')
    .argument('<id>')
    .action((id: string, place: Place) =>
      using(application, place, async (keys) => {
        const until = await keys.openFuse(id.toLowerCase());
        if (place.json) process.stdout.write(toJson({ key_id: id.toLowerCase(), open_until: until }));
        else process.stdout.write(`The fuse of key ${id} is open until ${minute(until)} (UTC).\n`);
      }),
    );

const ACCESS: Access<KeysAccess> = {
  local: (context, caller) => new LocalKeys(context, caller),
  remote: (service) => new RemoteKeys(service),
};
const using = (application: Application, place: Place, work: (keys: KeysAccess) => Promise<void>) =>
  atPlace(application, place, ACCESS, work);

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
