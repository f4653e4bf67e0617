import { Command } from 'commander';
import { type Env, EnvError, findMisspeltVariables } from '../platform/config/env.js';
import { readSettings } from '../platform/config/settings.js';
import type { EntityClasses } from '../platform/database/data-source.js';
import type { Application } from './application.js';
import {
  checkBaseUrl,
  checkDataDir,
  checkDatabase,
  checkDisk,
  checkImportFolder,
  checkNode,
} from '../operations/doctor/doctor-checks.js';
import { claimDatabase } from '../operations/start/open-installation.js';
import type { DatabaseFiles } from '../platform/database/sqlite/database-files.js';
import { InstallationError } from '../platform/database/sqlite/installation-file.js';
import { formatJson } from './output.js';
import { createDoctorScimCommand } from './doctor-scim.command.js';
import { type Finding, codeOf, fail, ok, warn } from '../operations/doctor/finding.js';

type Check = (env: Env, entities: EntityClasses) => Finding[] | Promise<Finding[]>;

const CHECKS: readonly [subject: string, check: Check][] = [
  ['data folder', checkDataDir],
  ['disk', checkDisk],
  ['address', checkBaseUrl],
  ['database', checkDatabase],
  ['imports', checkImportFolder],
];

export const createDoctorCommand = (application: Application) =>
  new Command('doctor')
    .description('check settings, database, migrations and folders, and report what to do')
    .option('--json', 'print the findings as JSON')
    .addCommand(createDoctorScimCommand())
    .addHelpText('after', '\nExit codes: 0 no check failed, 1 a check failed, 2 invalid usage.')
    .action(async ({ json }: { json?: true }) => {
      const findings: Finding[] = [];
      for await (const finding of runChecks(application)) {
        findings.push(finding);
        const { level, subject, message } = finding;
        if (!json) process.stdout.write(`${level.padEnd(4)}  ${subject.padEnd(14)}  ${message}\n`);
      }
      if (json) process.stdout.write(formatJson(findings));
      process.exitCode = findings.some(({ level }) => level === 'fail') ? 1 : 0;
    });

/**
 * Runs the checks one after another. Yields the findings of each check immediately, because the next check can take
 * long.
 */
async function* runChecks({ entities }: Application): AsyncGenerator<Finding> {
  yield* checkNode(process.versions.node);
  let env: Env;
  const misspelt = findMisspeltVariables();
  yield* misspelt.flatMap((text) => warn('settings', `${text}. Rename or remove it`));
  try {
    env = readSettings();
  } catch (error) {
    return yield* toSettingsFindings(error);
  }
  if (misspelt.length === 0) yield* ok('settings', 'all valid');
  let files: DatabaseFiles | undefined;
  try {
    for (const [subject, check] of CHECKS) {
      // Claims the files before SQLite opens them, because they may not belong together.
      if (check === checkDatabase) files = await claimDatabase(env, 'read');
      if (files?.loss !== undefined)
        yield* fail('database', `${files.loss} The service starts a new epoch at its next start`);
      yield* await runCheck(subject, () => check(env, entities));
      files?.release();
      files = undefined;
    }
  } catch (error) {
    if (!(error instanceof InstallationError)) throw error;
    yield* fail('database', error.message);
  }
}

function toSettingsFindings(error: unknown): Finding[] {
  if (!(error instanceof EnvError)) return fail('settings', `.env cannot be read (${codeOf(error)})`);
  return error.message
    .split('\n')
    .filter((line) => line.startsWith('- '))
    .flatMap((line) => fail('settings', `${line.slice(2)}. Correct it in the environment or in .env`));
}

/** Runs a check and converts its error to a finding, without the message, which may contain values. */
async function runCheck(subject: string, check: () => ReturnType<Check>): Promise<Finding[]> {
  try {
    return await check();
  } catch (error) {
    return fail(subject, `cannot be checked (${codeOf(error)})`);
  }
}
