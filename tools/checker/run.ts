import { existsSync } from 'node:fs';
import { runChecker } from './check.js';
import { saveHistory } from './report.js';
import { TARGETS, type TargetName, startTarget } from './targets.js';
import { findMissingGalera } from '../galera.js';

/**
 * `npm run bench:checker`: runs the checker of tools/checker/README.md longer than the tests do. CHECK_TARGET selects sqlite,
 * mariadb or galera, CHECK_SECONDS the duration. CHECK_SEED repeats the choices of a run. Exit code 1 if a promise was
 * broken.
 */
const seconds = Number(process.env['CHECK_SECONDS'] ?? 120);
const seed = Number(process.env['CHECK_SEED'] ?? Date.now() % 1_000_000);
const selected = process.env['CHECK_TARGET'];
const isTarget = (name: string): name is TargetName => TARGETS.some((target) => target === name);

async function run(name: TargetName): Promise<boolean> {
  const target = await startTarget(name);
  try {
    process.stdout.write(`\n${name}: ${seconds} s, CHECK_SEED=${seed}\n`);
    const report = (line: string): void => void process.stdout.write(`  ${line}\n`);
    const checked = await runChecker(target, { seconds, seed, report });
    const { broken, requests, effects, faults } = checked;
    const list = (counts: Readonly<Record<string, number>>): string =>
      Object.entries(counts)
        .map(([what, count]) => `${what} ${count}`)
        .join(', ');
    process.stdout.write(`${requests} requests, changes: ${list(effects)}\nfaults: ${list(faults)}\n`);
    for (const [promise, all] of Map.groupBy(broken, ({ promise }) => promise)) {
      process.stdout.write(`BROKEN ${all.length} times: ${promise}\n`);
      for (const { text } of all.slice(0, 5)) process.stdout.write(`  ${text}\n`);
    }
    process.stdout.write(`${broken.length} promises broken\n`);
    if (broken.length > 0) process.stdout.write(`history: ${saveHistory(checked, `${name}-${seed}`)}\n`);
    return broken.length === 0;
  } finally {
    await target.remove();
  }
}

if (!existsSync('dist/main.js')) throw new Error('Build the service first: npm run build.');
if (selected !== undefined && !isTarget(selected))
  throw new Error(`CHECK_TARGET must be one of ${TARGETS.join(', ')}.`);
const missing = findMissingGalera();
for (const name of selected === undefined ? TARGETS : [selected]) {
  if (name === 'galera' && missing !== undefined) process.stdout.write(`galera: skipped, ${missing}\n`);
  else if (!(await run(name))) process.exitCode = 1;
}
