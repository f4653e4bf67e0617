import { Command, InvalidArgumentError, Option } from 'commander';
import { PROFILES, type Scope } from '../access/actor.js';
import { ApiKeyInput, UNKNOWN_FIELDS } from '../api-keys/api-key.input.js';
import type { ApiKeyDto, ApiKeyPageDto, NewApiKeyDto } from '../api-keys/api-key.view.js';
import type { JsonObject } from '../platform/common/json.js';
import { type DbTime, DAY_SECONDS, addSeconds, now, toIso } from '../platform/common/time.js';
import { parseTime } from '../platform/input/query-rules.js';
import { readInput } from '../platform/input/read-input.js';
import { MAX_LIMIT } from '../platform/http/page.js';
import type { Application } from './application.js';
import { changeEach, formatMinute, print, toTable } from './output.js';
import type { ServiceClient } from './service-client.js';
import { type Target, createWriteCommand, createCommand, toFields } from './target.js';

const EXIT_HELP = `
Exit codes: 0 done, 1 some of several keys could not be revoked, 2 nothing done (invalid usage, unknown id, no database
or service).`;

export const createKeysCommand = (application: Application) =>
  new Command('keys')
    .description('create, list and revoke API keys, and reset their fuses')
    .addHelpText('afterAll', EXIT_HELP)
    .addCommand(createCreateCommand(application))
    .addCommand(createListCommand(application))
    .addCommand(createRevokeCommand(application))
    .addCommand(createFuseCommand(application));

const createCreateCommand = (application: Application) =>
  createWriteCommand('create', 'create a key, which is shown only once')
    .argument('<name>', 'purpose of the key, 1 to 255 characters', parseKeyName)
    .option(
      '--expires <when>',
      'expiry: a date such as 2027-01-31 (00:00 UTC), or a number of days such as 90d',
      (text) => toIso(parseExpiry(text)),
    )
    .option(
      '--scope <scope>',
      'permitted scope, such as users:read; can be repeated (default: all rights)',
      (text, earlier?: Scope[]) => parseInput({ scopes: [...(earlier ?? []), text] }).scopes ?? [],
    )
    .option(
      '--network <network>',
      'permitted network, such as 10.0.0.0/8; can be repeated (default: any network)',
      (text, earlier?: string[]) => parseInput({ networks: [...(earlier ?? []), text] }).networks ?? [],
    )
    .addOption(
      new Option('--unknown-fields <rule>', 'how to handle unknown fields of a user').choices(UNKNOWN_FIELDS),
    )
    .addOption(
      new Option('--profile <profile>', 'identity provider that uses the key for SCIM').choices(PROFILES),
    )
    .action((name: string, flags: Target) =>
      application.runWithClient(flags, async (service) => {
        const { scope: scopes, network: networks, ...fields } = toFields(flags);
        const body = { name, scopes, networks, ...fields };
        const created = await service.requestJson<NewApiKeyDto>('POST', 'api_keys', { body });
        print(flags, created, `${created.key}\n`);
        process.stderr.write(`Id: ${created.id}. The key is shown only once, so store it now.\n`);
      }),
    );

const HEAD = ['ID', 'STATE', 'CREATED (UTC)', 'EXPIRES', 'LAST USED', 'FROM', 'SCOPES', 'NETWORKS', 'NAME'];

const createListCommand = (application: Application) =>
  createCommand('list', 'list keys, newest first').action((flags: Target) =>
    application.runWithClient(flags, async (service) => {
      const keys = await listKeys(service);
      print(flags, keys, toTable([HEAD, ...keys.map(toRow)]));
    }),
  );

async function listKeys(service: ServiceClient): Promise<ApiKeyDto[]> {
  const keys: ApiKeyDto[] = [];
  for (;;) {
    const query = { offset: keys.length, limit: MAX_LIMIT };
    const { Count, Results } = await service.requestJson<ApiKeyPageDto>('GET', 'api_keys', { query });
    keys.push(...Results);
    if (Results.length === 0 || keys.length >= Count) return keys;
  }
}

function toRow(key: ApiKeyDto): string[] {
  const times = [formatMinute(key.created), formatTime(key.expires), formatTime(key.last_used)];
  const limits = [key.scopes?.join(',') ?? 'all', key.networks?.join(',') ?? 'any'];
  return [key.id, key.state, ...times, key.last_address ?? '-', ...limits, key.name];
}

const formatTime = (time: string | null): string => (time === null ? 'never' : formatMinute(time));

const createRevokeCommand = (application: Application) =>
  createWriteCommand('revoke', 'revoke keys permanently')
    .argument('<id...>')
    .action((ids: string[], flags: Target) =>
      application.runWithClient(flags, async (service) => {
        const revoked = await changeEach(ids, async (id) => {
          await service.send('DELETE', `api_keys/${encodeURIComponent(id)}`);
          if (!flags.json) process.stdout.write(`Key ${id} is revoked.\n`);
          return { id: id.toLowerCase(), state: 'revoked' };
        });
        if (flags.json) print(flags, ids.length === 1 ? { ...revoked[0] } : revoked, '');
      }),
    );

const createFuseCommand = (application: Application) =>
  createWriteCommand(
    'fuse',
    'reset the fuse of a key, so that the key can block any number of users for an hour',
  )
    .argument('<id>')
    .action((text: string, flags: Target) =>
      application.runWithClient(flags, async (service) => {
        const id = text.toLowerCase();
        const path = `api_keys/${encodeURIComponent(id)}/fuse`;
        const { open_until } = await service.requestJson<{ open_until: string }>('POST', path);
        const until = formatMinute(open_until);
        print(flags, { key_id: id, open_until }, `The fuse of key ${text} is off until ${until} (UTC).\n`);
      }),
    );

/** Parses the name of a key by the rules of the API. @throws InvalidArgumentError for an invalid name. */
export const parseKeyName = (text: string): string => parseInput({ name: text }).name;

function parseInput(fields: JsonObject): ApiKeyInput {
  const { value, errors } = readInput(ApiKeyInput, { name: 'a key', ...fields });
  const [fault] = errors;
  if (fault) throw new InvalidArgumentError(`${fault.field} ${fault.message}.`);
  return value;
}

/** Parses an expiry: a future date or time, or a number of days. @throws InvalidArgumentError for other texts. */
export function parseExpiry(text: string): DbTime {
  const days = /^([1-9]\d{0,4})d$/.exec(text)?.[1];
  if (days !== undefined) return addSeconds(now(), Number(days) * DAY_SECONDS);
  const time = parseTime(text);
  if (time === undefined || time <= now())
    throw new InvalidArgumentError('Pass a future date such as 2027-01-31 or a period such as 90d.');
  return time;
}
