import { Command, InvalidArgumentError } from 'commander';
import { ApiKeysService } from '../api-keys/api-keys.service.js';
import { isCleanText } from '../common/text.js';
import { type DbTime, now, secondsFrom, toDbTime } from '../common/time.js';
import { CLI_CALLER, withService } from './service.js';
import { table } from './table.js';

const DAY_SECONDS = 24 * 60 * 60;

export const keysCommand = () =>
  new Command('keys').description('API keys').addCommand(create()).addCommand(list()).addCommand(revoke());

const create = () =>
  new Command('create')
    .description('make a key; it is printed this once')
    .argument('<name>', 'what it is for, 1 to 255 characters', parseName)
    .option('--expires <when>', 'a date (2027-01-31) or days from now (90d)', parseExpiry)
    .action(async (name: string, { expires }: { expires?: DbTime }) => {
      await withService(async (service) => {
        const { id, key } = await service.get(ApiKeysService).create(name, expires ?? null, CLI_CALLER);
        process.stdout.write(`${key}\n`);
        process.stderr.write(`This is key ${id}. It is shown this once; keep it.\n`);
      });
    });

const list = () =>
  new Command('list')
    .description('all keys, newest first')
    .option('--json', 'as JSON')
    .action(async ({ json }: { json?: true }) => {
      await withService(async (service) => {
        const keys = await service.get(ApiKeysService).list();
        const rows = keys.map(({ id, name, state, created, expires, last_used }) => [
          id,
          state,
          created.slice(0, 16),
          expires?.slice(0, 16) ?? 'never',
          last_used?.slice(0, 16) ?? 'never',
          name,
        ]);
        const head = ['ID', 'STATE', 'CREATED (UTC)', 'EXPIRES', 'LAST USED', 'NAME'];
        process.stdout.write(json ? `${JSON.stringify(keys, null, 2)}\n` : table([head, ...rows]));
      });
    });

const revoke = () =>
  new Command('revoke')
    .description('end a key, for good')
    .argument('<id>')
    .action(async (id: string) => {
      await withService(async (service) => {
        const before = await service.get(ApiKeysService).revoke(id.toLowerCase(), CLI_CALLER);
        if (before === undefined) throw new Error(`There is no key ${id}; "rollcall keys list" shows all.`);
        process.stdout.write(
          before === 'revoked' ? `Key ${id} was revoked before.\n` : `Key ${id} is revoked.\n`,
        );
      });
    });

function parseName(text: string): string {
  const name = text.normalize('NFC').trim();
  if (name === '' || name.length > 255 || !isCleanText(name)) {
    throw new InvalidArgumentError('must have 1 to 255 characters and no control characters');
  }
  return name;
}

function parseExpiry(text: string): DbTime {
  const days = /^(\d{1,5})d$/.exec(text)?.[1];
  if (days !== undefined) return secondsFrom(now(), Number(days) * DAY_SECONDS);
  const date = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN;
  if (Number.isNaN(date) || date <= Date.now()) {
    throw new InvalidArgumentError(
      'must be a date to come, such as 2027-01-31, or a number of days, such as 90d',
    );
  }
  return toDbTime(new Date(date));
}
