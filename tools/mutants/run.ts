import { parseArgs } from 'node:util';
import { CoverageMap } from './coverage-map.js';
import { type Fault, readFaults } from './faults.js';
import { runJest } from './jest-run.js';
import { type Position, Project } from './project.js';

/**
 * `npm run mutants [-- FEATURE ...] [--map]`: introduces the faults of faults.json one after the other into a
 * copy of the project, runs the tests that call the line until one fails, and prints that test. `--map` records the
 * coverage map again. Exit code 1 if more than 5 faults are undetected.
 */
const UNDETECTED_LIMIT = 5;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { map: { type: 'boolean', default: false } },
});
const print = (line: string): void => void process.stdout.write(`${line}\n`);

function findTouching(map: CoverageMap, { file, engines }: Fault, positions: readonly Position[]): string[] {
  if (file.startsWith('console/')) return map.findInFolder('test/console/');
  const calling = map.findTests(positions);
  // The map is recorded on SQLite, so it does not contain the tests of code that only MariaDB uses.
  return engines === 'mariadb' ? [...new Set([...calling, ...map.findInFolder('test/database/')])] : calling;
}

/** Returns the test that detects a fault, or undefined. */
async function findTest(project: Project, map: CoverageMap, fault: Fault): Promise<string | undefined> {
  const started = performance.now();
  const files = findTouching(map, fault, project.plant(fault));
  const results =
    files.length === 0 ? [] : await runJest(project.folder, { files, engines: fault.engines ?? 'sqlite' });
  const seen = results.find(({ failure }) => failure !== undefined);
  const seconds = ((performance.now() - started) / 1000).toFixed(0);
  return seen && `${seen.file}: ${seen.failure} (file ${results.length} of ${files.length}, ${seconds} s)`;
}

process.once('SIGINT', () => process.exit(130));
process.once('SIGTERM', () => process.exit(143));
const faults = readFaults(positionals);
const project = Project.create();
process.once('exit', () => {
  project.remove();
});
const map = await CoverageMap.load(project, values.map);
for (const file of map.failed) print(`omitted, because it fails without a fault: ${file}`);
const undetected: Fault[] = [];
for (const [at, fault] of faults.entries()) {
  const test = await findTest(project, map, fault);
  project.restore(fault.file);
  if (test === undefined) undetected.push(fault);
  print(`${at + 1}/${faults.length} ${fault.feature}, ${fault.file}: ${fault.before} → ${fault.after}`);
  print(test === undefined ? `    UNDETECTED: ${fault.effect}` : `    detected by ${test}`);
}
print(
  `${faults.length} faults, ${faults.length - undetected.length} detected, ${undetected.length} undetected`,
);
for (const { file, before, after } of undetected) print(`  ${file}: ${before} → ${after}`);
process.exit(undetected.length > UNDETECTED_LIMIT ? 1 : 0);
