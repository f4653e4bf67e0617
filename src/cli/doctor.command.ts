import { Command } from 'commander';
import type { Env } from '../config/env.js';
import { readSettings } from '../config/settings.js';
import { databaseChecks } from './doctor.database.js';
import type { Finding } from './doctor.finding.js';
import { baseUrlCheck, dataDirCheck, diskCheck, importFolderCheck, nodeCheck } from './doctor.machine.js';

/** In the order in which somebody would look. */
const CHECKS: readonly ((env: Env) => Finding[] | Promise<Finding[]>)[] = [
  dataDirCheck,
  diskCheck,
  baseUrlCheck,
  databaseChecks,
  importFolderCheck,
];

export const doctorCommand = () =>
  new Command('doctor')
    .description('check settings, database, migrations and folders, and say what to do')
    .addHelpText('after', '\nExit codes: 0 nothing failed, 1 something did.')
    .action(async () => {
      const findings = await examine();
      for (const { level, what, say } of findings) {
        process.stdout.write(`${level.padEnd(4)}  ${what.padEnd(14)}  ${say}\n`);
      }
      process.exitCode = findings.some(({ level }) => level === 'fail') ? 1 : 0;
    });

async function examine(): Promise<Finding[]> {
  const findings = nodeCheck();
  let env: Env;
  try {
    env = readSettings();
  } catch (error) {
    // The message names variables and rules, never values.
    return [
      ...findings,
      { level: 'fail', what: 'settings', say: error instanceof Error ? error.message : '' },
    ];
  }
  findings.push({ level: 'ok', what: 'settings', say: 'every setting obeys its rule' });
  for (const check of CHECKS) findings.push(...(await check(env)));
  return findings;
}
