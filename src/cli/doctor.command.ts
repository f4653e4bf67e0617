import { Command } from 'commander';
import { now } from '../platform/common/time.js';
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
import { checkKeyRisks } from '../operations/doctor/key-checks.js';
import { type Finding, codeOf, fail, ok, warn } from '../operations/doctor/finding.js';
import {
  checkAudit,
  checkCookie,
  checkDatabaseTls,
  checkDropFolder,
  checkFiles,
  checkHttps,
  checkMetrics,
  checkNodeSupport,
  checkProxy,
  checkSecrets,
} from '../operations/doctor/security-checks.js';

type Check = (env: Env, entities: EntityClasses) => Finding[] | Promise<Finding[]>;

const CHECKS: readonly [subject: string, check: Check][] = [
  ['data folder', checkDataDir],
  ['disk', checkDisk],
  ['address', checkBaseUrl],
  ['database', checkDatabase],
  ['imports', checkImportFolder],
];

const SECURITY_CHECKS: readonly [subject: string, check: Check][] = [
  ['https', checkHttps],
  ['cookie', checkCookie],
  ['secrets', checkSecrets],
  ['database tls', checkDatabaseTls],
  ['proxy', checkProxy],
  ['metrics', checkMetrics],
  ['audit', checkAudit],
  ['files', checkFiles],
  ['drop folder', checkDropFolder],
  ['api keys', checkKeyRisks],
];

const OPEN_DATABASE: readonly Check[] = [checkDatabase, checkKeyRisks];

export const createDoctorCommand = (application: Application) =>
  new Command('doctor')
    .description('check settings, database, migrations and folders, and report what to do')
    .option('--security', 'check the security instead: transport, secrets, API keys and file modes')
    .option('--json', 'print the findings as JSON')
    .addCommand(createDoctorScimCommand())
    .addHelpText('after', '\nExit codes: 0 no check failed, 1 a check failed, 2 invalid usage.')
    .action(async ({ security, json }: { security?: true; json?: true }) => {
      const findings: Finding[] = [];
      for await (const finding of runChecks(application, security === true)) {
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
async function* runChecks(application: Application, security: boolean): AsyncGenerator<Finding> {
  const { node } = process.versions;
  yield* security ? checkNodeSupport(node, now().slice(0, 10)) : checkNode(node);
  let env: Env;
  const misspelt = findMisspeltVariables();
  yield* misspelt.flatMap((text) => warn('settings', `${text}. Rename or remove it`));
  try {
    env = readSettings();
  } catch (error) {
    return yield* toSettingsFindings(error);
  }
  if (!security && misspelt.length === 0) yield* ok('settings', 'all valid');
  let files: DatabaseFiles | undefined;
  try {
    for (const [subject, check] of security ? SECURITY_CHECKS : CHECKS) {
      // Claims the files before SQLite opens them, because they may not belong together.
      if (OPEN_DATABASE.includes(check)) files = await claimDatabase(env, 'read');
      if (files?.loss !== undefined)
        yield* fail('database', `${files.loss} The service starts a new epoch at its next start`);
      yield* await runCheck(subject, () => check(env, application.entities));
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
