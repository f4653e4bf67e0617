import { Command } from 'commander';
import { type Env, EnvError } from '../config/env.js';
import { readSettings } from '../config/settings.js';
import type { Application } from './application.js';
import {
  baseUrlCheck,
  dataDirCheck,
  databaseChecks,
  diskCheck,
  importFolderCheck,
  nodeCheck,
} from './doctor-checks.js';
import { type Finding, codeOf, fail, ok } from './finding.js';

type Check = (env: Env, application: Application) => Finding[] | Promise<Finding[]>;

const CHECKS: readonly [subject: string, check: Check][] = [
  ['data folder', dataDirCheck],
  ['disk', diskCheck],
  ['address', baseUrlCheck],
  ['database', databaseChecks],
  ['imports', importFolderCheck],
];

export const doctorCommand = (application: Application) =>
  new Command('doctor')
    .description('check settings, database, migrations and folders, and say what to do')
    .addHelpText('after', '\nExit codes: 0 no check failed, 1 a check failed, 2 wrong usage.')
    .action(async () => {
      process.exitCode = 0;
      for await (const { level, subject, message } of examine(application)) {
        process.stdout.write(`${level.padEnd(4)}  ${subject.padEnd(14)}  ${message}\n`);
        if (level === 'fail') process.exitCode = 1;
      }
    });

/** Yields each finding as soon as it is known, because a database that does not answer takes long. */
async function* examine(application: Application): AsyncGenerator<Finding> {
  yield* nodeCheck(process.versions.node);
  let env: Env;
  try {
    env = readSettings();
  } catch (error) {
    return yield* settingsFault(error);
  }
  yield* ok('settings', 'all valid');
  for (const [subject, check] of CHECKS) yield* await guarded(subject, () => check(env, application));
}

/** The messages of broken rules name variables and rules, never values. */
function settingsFault(error: unknown): Finding[] {
  if (!(error instanceof EnvError)) return fail('settings', `.env cannot be read (${codeOf(error)})`);
  return error.message
    .split('\n')
    .filter((line) => line.startsWith('- '))
    .flatMap((line) => fail('settings', `${line.slice(2)}; correct it in the environment or in .env`));
}

/** Turns an error of a check into a finding, without its message, which may quote values. */
async function guarded(subject: string, check: () => ReturnType<Check>): Promise<Finding[]> {
  try {
    return await check();
  } catch (error) {
    return fail(subject, `cannot be checked (${codeOf(error)})`);
  }
}
