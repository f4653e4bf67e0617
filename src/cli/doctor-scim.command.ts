import { Command, Option } from 'commander';
import { SHUTDOWN_SIGNALS } from '../platform/common/signals.js';
import { REPLAYS } from './replays/provider-steps.js';
import { ReplayRun } from './replays/replay-run.js';
import { toTable } from './output.js';
import { KEY, KEY_FILE, type Target, readKey } from './target.js';

export const createDoctorScimCommand = () =>
  new Command('scim')
    .description('replay the requests of an identity provider with temporary records, and report the results')
    .addOption(
      new Option('--profile <profile>', 'identity provider; the API key needs the same profile')
        .choices(Object.keys(REPLAYS))
        .makeOptionMandatory(),
    )
    .requiredOption('--url <url>', 'address of the running service')
    .addOption(KEY)
    .addOption(KEY_FILE)
    .addHelpText(
      'after',
      '\nThe key needs the scopes users:read, users:write, groups:read and groups:write. The temporary user and' +
        '\ngroup are deleted for good at the end. The user does not count towards the fuse of the key.' +
        '\nExit codes: 0 all steps passed, 1 a step failed or something could not be deleted, 2 nothing done (invalid usage or key, no service).',
    )
    .action(async ({ profile, url, ...flags }: Target & { profile: keyof typeof REPLAYS; url: string }) => {
      const run = new ReplayRun(url, await readKey(flags));
      const rows: string[][] = [];
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
