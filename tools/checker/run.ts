import { existsSync } from 'node:fs';
import { check } from './check.js';
import { saveHistory } from './report.js';
import { TARGETS, type TargetName, startTarget } from './targets.js';
import { galeraMissing } from '../galera.js';

/**
 * `npm run bench:checker`: the checker of docs/checker.md, for longer than the tests run it. CHECK_TARGET: sqlite, mariadb
 * or galera; CHECK_SECONDS: how long; CHECK_SEED: repeats the choices of a run. Exit code 1 when a promise was broken.
 */
const seconds = Number(process.env['CHECK_SECONDS'] ?? 120);
const seed = Number(process.env['CHECK_SEED'] ?? Date.now() % 1_000_000);
const wanted = process.env['CHECK_TARGET'];
const isTarget = (name: string): name is TargetName => TARGETS.some((one) => one === name);

async function run(name: TargetName): Promise<boolean> {
  const target = await startTarget(name);
  try {
    process.stdout.write(`\n${name}: ${seconds} s, CHECK_SEED=${seed}\n`);
    const report = (line: string): void => void process.stdout.write(`  ${line}\n`);
    const checked = await check(target, { seconds, seed, report });
    const { broken, requests, effects, faults } = checked;
    const list = (counts: Readonly<Record<string, number>>): string =>
      Object.entries(counts)
        .map(([what, count]) => `${what} ${count}`)
        .join(', ');
    process.stdout.write(`${requests} requests; changes: ${list(effects)}\nfaults: ${list(faults)}\n`);
    for (const [promise, all] of Map.groupBy(broken, (one) => one.promise)) {
      process.stdout.write(`BROKEN, ${all.length} times: ${promise}\n`);
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
if (wanted !== undefined && !isTarget(wanted))
  throw new Error(`CHECK_TARGET is one of ${TARGETS.join(', ')}.`);
const missing = galeraMissing();
for (const name of wanted === undefined ? TARGETS : [wanted]) {
  if (name === 'galera' && missing !== undefined) process.stdout.write(`galera: not run, ${missing}\n`);
  else if (!(await run(name))) process.exitCode = 1;
}
