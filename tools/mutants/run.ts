import { parseArgs } from 'node:util';
import { CoverageMap } from './coverage-map.js';
import { type Fault, readFaults } from './faults.js';
import { runJest } from './jest-run.js';
import { type Position, Project } from './project.js';

/**
 * `npm run mutants [-- FEATURE ...] [--map] [--whole]`: plants one fault after the other (faults.json) in a copy of the
 * project, runs the tests that call its line until one fails, and prints which one saw it. `--map` records anew which tests
 * call which line. `--whole` runs all other tests for faults that are unseen. Exit code 1 if more than 5 faults are unseen.
 */
const UNSEEN_LIMIT = 5;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { map: { type: 'boolean', default: false }, whole: { type: 'boolean', default: false } },
});
const print = (line: string): void => void process.stdout.write(`${line}\n`);

function findTouching(map: CoverageMap, { file, engines }: Fault, positions: readonly Position[]): string[] {
  if (file.startsWith('console/')) return map.findIn('test/console/');
  const calling = map.findTests(positions);
  // The map is recorded on SQLite, so it does not know which tests call the code of MariaDB alone.
  return engines === 'mariadb' ? [...new Set([...calling, ...map.findIn('test/database/')])] : calling;
}

/** @returns the test that sees a fault, undefined if none does. */
async function findTest(project: Project, map: CoverageMap, fault: Fault): Promise<string | undefined> {
  const started = performance.now();
  const touching = findTouching(map, fault, project.plant(fault));
  const others = values.whole ? map.findIn('test/').filter((file) => !touching.includes(file)) : [];
  let count = 0;
  for (const files of [touching, others]) {
    if (files.length === 0) continue;
    const results = await runJest(project.folder, { files, engines: fault.engines ?? 'sqlite' });
    count += results.length;
    const seen = results.find(({ failure }) => failure !== undefined);
    const seconds = ((performance.now() - started) / 1000).toFixed(0);
    if (seen) return `${seen.file}: ${seen.failure} (file ${count} of ${files.length}, ${seconds} s)`;
  }
  return undefined;
}

process.once('SIGINT', () => process.exit(130));
process.once('SIGTERM', () => process.exit(143));
const faults = readFaults(positionals);
const project = Project.copy();
process.once('exit', () => {
  project.remove();
});
const map = await CoverageMap.load(project, values.map);
for (const file of map.failed) print(`left out, because it fails without a fault: ${file}`);
const unseen: Fault[] = [];
for (const [at, fault] of faults.entries()) {
  const test = await findTest(project, map, fault);
  project.restore(fault.file);
  if (test === undefined) unseen.push(fault);
  print(`${at + 1}/${faults.length} ${fault.feature}, ${fault.file}: ${fault.before} → ${fault.after}`);
  print(test === undefined ? `    UNSEEN: ${fault.effect}` : `    seen by ${test}`);
}
print(`${faults.length} faults, ${faults.length - unseen.length} seen, ${unseen.length} unseen`);
for (const { file, before, after } of unseen) print(`  ${file}: ${before} → ${after}`);
process.exit(unseen.length > UNSEEN_LIMIT ? 1 : 0);
