import { Command, Option } from 'commander';
import { ENTRA } from './replays/entra.js';
import { MIDPOINT } from './replays/midpoint.js';
import { OKTA } from './replays/okta.js';
import { ReplayRun } from './replays/replay-run.js';
import type { Provider, Step } from './replays/replay.js';
import { table } from './output.js';

export const REPLAYS: Readonly<Record<Provider, readonly Step[]>> = {
  entra: ENTRA,
  okta: OKTA,
  midpoint: MIDPOINT,
};

interface Flags {
  profile: Provider;
  url: string;
  key?: string;
}

/** Plays a provider against a running service. Exit code 1 when a step did not pass. */
export const doctorScimCommand = () =>
  new Command('scim')
    .description(
      'send what an identity provider sends, with throwaway users and a group, and say what passed',
    )
    .addOption(
      new Option('--profile <profile>', 'the provider; the key needs the same profile')
        .choices(Object.keys(REPLAYS))
        .makeOptionMandatory(),
    )
    .requiredOption('--url <url>', 'of the running service')
    .addOption(new Option('--key <key>', 'an API key for that service').env('ROLLCALL_KEY'))
    .addHelpText(
      'after',
      '\nThe key needs the scopes users:read, users:write, groups:read and groups:write. The users are deleted at the end,' +
        '\nand are kept for SCIM_DELETED_DAYS like all deleted users; they count for the fuse of the key.' +
        '\nExit codes: 0 all passed, 1 a step did not pass or something could not be deleted, 2 wrong usage.',
    )
    .action(async ({ profile, url, key }: Flags) => {
      if (!key) throw new Error('An API key is needed: --key, or the variable ROLLCALL_KEY.');
      const rows: string[][] = [];
      const run = new ReplayRun(url, key);
      for await (const { step, problem } of run.outcomes(REPLAYS[profile]))
        rows.push([problem === undefined ? 'ok' : 'fail', step.method, step.what, problem ?? '']);
      const failed = rows.filter(([result]) => result === 'fail').length;
      process.stdout.write(table(rows));
      process.stdout.write(`${profile}: ${rows.length - failed} of ${rows.length} steps passed\n`);
      for (const what of run.left) process.stderr.write(`Not deleted, delete it yourself: ${what}\n`);
      process.exitCode = failed + run.left.length === 0 ? 0 : 1;
    });
