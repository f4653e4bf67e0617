import { Command, Option } from 'commander';
import { SHUTDOWN_SIGNALS } from '../platform/common/signals.js';
import { ENTRA } from './replays/entra.js';
import { MIDPOINT } from './replays/midpoint.js';
import { OKTA } from './replays/okta.js';
import { ReplayRun } from './replays/replay-run.js';
import type { Provider, Step } from './replays/replay.js';
import { toTable } from './output.js';

export const REPLAYS: Record<Provider, readonly Step[]> = { entra: ENTRA, okta: OKTA, midpoint: MIDPOINT };

export const createDoctorScimCommand = () =>
  new Command('scim')
    .description('replay the requests of an identity provider with temporary records, and report the results')
    .addOption(
      new Option('--profile <profile>', 'identity provider; the API key needs the same profile')
        .choices(Object.keys(REPLAYS))
        .makeOptionMandatory(),
    )
    .requiredOption('--url <url>', 'address of the running service')
    .addOption(new Option('--key <key>', 'API key for the service').env('ROLLCALL_KEY'))
    .addHelpText(
      'after',
      '\nThe key needs the scopes users:read, users:write, groups:read and groups:write. At the end, the temporary users are' +
        '\ndeleted for good. They do not count towards the fuse of the key.' +
        '\nExit codes: 0 all steps passed, 1 a step failed or something could not be deleted, 2 invalid usage.',
    )
    .action(async ({ profile, url, key }: { profile: Provider; url: string; key?: string }) => {
      if (!key) throw new Error('An API key is required. Pass --key or set ROLLCALL_KEY.');
      const rows: string[][] = [];
      const run = new ReplayRun(url, key);
      const stop = new AbortController();
      for (const signal of SHUTDOWN_SIGNALS)
        process.once(signal, () => {
          stop.abort();
        });
      for await (const { step, problem } of run.runSteps(REPLAYS[profile])) {
        rows.push([problem === undefined ? 'ok' : 'fail', step.method, step.title, problem ?? '']);
        if (stop.signal.aborted) break;
      }
      if (stop.signal.aborted) process.stderr.write('The replay was stopped.\n');
      const failed = rows.filter(([result]) => result === 'fail').length;
      process.stdout.write(toTable(rows));
      process.stdout.write(`${profile}: ${rows.length - failed} of ${rows.length} steps passed\n`);
      for (const resource of run.remaining)
        process.stderr.write(`Could not delete ${resource}. Delete it manually.\n`);
      process.exitCode = !stop.signal.aborted && failed + run.remaining.length === 0 ? 0 : 1;
    });
