import { Command } from 'commander';
import { type Env, EnvError } from '../config/env.js';
import { readSettings } from '../config/settings.js';
import { databaseChecks } from './doctor-database.js';
import { type Finding, codeOf, fail, ok } from './doctor-finding.js';
import type { Program } from './service.js';
import { baseUrlCheck, dataDirCheck, diskCheck, importFolderCheck, nodeCheck } from './doctor-machine.js';

type Check = (env: Env, program: Program) => Finding[] | Promise<Finding[]>;

/** In the order in which somebody would look. */
const CHECKS: readonly [what: string, check: Check][] = [
  ['data folder', dataDirCheck],
  ['disk', diskCheck],
  ['address', baseUrlCheck],
  ['database', databaseChecks],
  ['imports', importFolderCheck],
];

export const doctorCommand = (program: Program) =>
  new Command('doctor')
    .description('check settings, database, migrations and folders, and say what to do')
    .addHelpText('after', '\nExit codes: 0 nothing failed, 1 something did, 2 wrong usage.')
    .action(async () => {
      process.exitCode = 0;
      for await (const { level, what, say } of examine(program)) {
        process.stdout.write(`${level.padEnd(4)}  ${what.padEnd(14)}  ${say}\n`);
        if (level === 'fail') process.exitCode = 1;
      }
    });

/** One finding after another, as soon as it is known: a server that does not answer takes its time. */
async function* examine(program: Program): AsyncGenerator<Finding> {
  yield* nodeCheck(process.versions.node);
  let env: Env;
  try {
    env = readSettings();
  } catch (error) {
    return yield* settingsFault(error);
  }
  yield* ok('settings', 'every setting obeys its rule');
  for (const [what, check] of CHECKS) yield* await survive(what, () => check(env, program));
}

/** The messages of broken rules name variables and rules, never values. */
function settingsFault(error: unknown): Finding[] {
  if (!(error instanceof EnvError)) return fail('settings', `.env cannot be read (${codeOf(error)})`);
  return error.message
    .split('\n')
    .filter((line) => line.startsWith('- '))
    .flatMap((line) => fail('settings', `${line.slice(2)}; correct it in the environment or in .env`));
}

/** A check that breaks is a finding, and the next one runs. Its message may quote values, so it stays out. */
async function survive(what: string, check: () => ReturnType<Check>): Promise<Finding[]> {
  try {
    return await check();
  } catch (error) {
    return fail(what, `cannot be examined (${codeOf(error)})`);
  }
}
