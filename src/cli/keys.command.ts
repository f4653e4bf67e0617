import { Command } from 'commander';
import { presentApiKey } from '../api-keys/api-key.view.js';
import { ApiKeysService } from '../api-keys/api-keys.service.js';
import type { DbTime } from '../common/time.js';
import { parseExpiry, parseName } from './keys-arguments.js';
import { CLI_CALLER, type Program, withService } from './service.js';
import { table } from './table.js';

const EXIT_CODES = '\nExit codes: 0 done, 2 nothing done (wrong usage, no database, unknown id).';

export const keysCommand = (program: Program) =>
  new Command('keys')
    .description('API keys')
    .addHelpText('afterAll', EXIT_CODES)
    .addCommand(create(program))
    .addCommand(list(program))
    .addCommand(revoke(program));

const create = (program: Program) =>
  new Command('create')
    .description('make a key; it is printed this once')
    .argument('<name>', 'what it is for, 1 to 255 characters', parseName)
    .option(
      '--expires <when>',
      'a date (2027-01-31: ends as that day begins, UTC) or days from now (90d)',
      parseExpiry,
    )
    .action(async (name: string, { expires }: { expires?: DbTime }) => {
      await withService(program, async (service) => {
        const { id, key } = await service.get(ApiKeysService).create(name, expires ?? null, CLI_CALLER);
        process.stdout.write(`${key}\n`);
        process.stderr.write(`This is key ${id}. It is shown this once; keep it.\n`);
      });
    });

const list = (program: Program) =>
  new Command('list')
    .description('all keys, newest first')
    .option('--json', 'as JSON')
    .action(async ({ json }: { json?: true }) => {
      await withService(program, async (service) => {
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
        process.stdout.write(
          json ? `${JSON.stringify(keys.map(presentApiKey), null, 2)}\n` : table([head, ...rows]),
        );
      });
    });

const revoke = (program: Program) =>
  new Command('revoke')
    .description('end a key, for good')
    .argument('<id>')
    .action(async (id: string) => {
      await withService(program, async (service) => {
        const before = await service.get(ApiKeysService).revoke(id.toLowerCase(), CLI_CALLER);
        if (before === undefined) throw new Error(`There is no key ${id}; "rollcall keys list" shows all.`);
        process.stdout.write(
          before === 'revoked' ? `Key ${id} was revoked before.\n` : `Key ${id} is revoked.\n`,
        );
      });
    });
