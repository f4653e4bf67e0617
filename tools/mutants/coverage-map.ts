import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { join } from 'node:path';
import { type CountedRange, type Intervals, contains, flatten, unite } from './intervals.js';
import { type FileResult, runJest } from './jest-run.js';
import type { Position, Project } from './project.js';

/** Folder of the raw coverage, with a folder for each test file. */
const COVERAGE = join(process.cwd(), 'artifacts/mutants/coverage');
const MAP = 'artifacts/mutants/map.json';

interface Report {
  result: { url: string; functions: { ranges: Omit<CountedRange, 'isModule'>[] }[] }[];
}

interface TestFile {
  file: string;
  seconds: number;
  /** The parts of each file of the build that the tests call. */
  called: Record<string, Intervals>;
}

/** Map of the code that each test file calls. */
export class CoverageMap {
  private constructor(
    private readonly tests: readonly TestFile[],
    /** Code of each file that runs when the file is loaded, possibly before the test file. */
    private readonly modules: Readonly<Record<string, Intervals>>,
    /** Test files that fail without a fault, and so detect no fault. */
    readonly failed: readonly string[],
  ) {}

  /** Reads the map of an earlier run, or runs all tests of an engine once to write it. */
  static async load(project: Project, isNew: boolean): Promise<CoverageMap> {
    if (isNew || !existsSync(MAP)) {
      rmSync(COVERAGE, { recursive: true, force: true });
      mkdirSync(COVERAGE, { recursive: true });
      const results = await runJest(project.folder, { engines: 'sqlite', coverage: COVERAGE });
      writeFileSync(MAP, JSON.stringify(readReports(project.folder, results)));
    }
    const { tests, modules, failed } = JSON.parse(readFileSync(MAP, 'utf8')) as ReturnType<
      typeof readReports
    >;
    return new CoverageMap(tests, modules, failed);
  }

  /** Returns the test files that call one of these positions, fastest first. */
  findTests(positions: readonly Position[]): string[] {
    return this.selectTests(({ called }) => positions.some((position) => this.isCalled(called, position)));
  }

  /** Returns the test files of a folder, fastest first. */
  findInFolder(folder: string): string[] {
    return this.selectTests(({ file }) => file.startsWith(folder));
  }

  private selectTests(isSelected: (test: TestFile) => boolean): string[] {
    const selected = this.tests.filter(isSelected).sort((a, b) => a.seconds - b.seconds);
    return selected.map(({ file }) => file);
  }

  private isCalled(called: TestFile['called'], { file, offset }: Position): boolean {
    const source = file.replace(/^build/, 'src').replace(/js$/, 'ts');
    if (called[source]) return true; // compiled by Jest, with different offsets
    const intervals = called[file];
    if (!intervals) return false;
    return contains(intervals, offset) || contains(this.modules[file] ?? [], offset);
  }
}

function readReports(
  folder: string,
  results: readonly FileResult[],
): { tests: TestFile[]; modules: Record<string, Intervals>; failed: string[] } {
  const failed = results.filter(({ failure }) => failure !== undefined).map(({ file }) => file);
  const modules: Record<string, Intervals> = {};
  const tests = new Map<string, TestFile>();
  for (const name of readdirSync(COVERAGE)) {
    const file = decodeURIComponent(name).replace(/^[^/]*\//, '');
    if (failed.includes(file)) continue;
    const seconds = results.find((result) => result.file === file)?.seconds ?? 0;
    const test = tests.get(file) ?? { file, seconds, called: {} };
    tests.set(file, test);
    for (const report of readdirSync(join(COVERAGE, name)))
      addReport(folder, join(COVERAGE, name, report), test.called, modules);
  }
  return { tests: [...tests.values()], modules, failed };
}

/** Adds the code that one process called. */
function addReport(
  folder: string,
  path: string,
  called: TestFile['called'],
  modules: Record<string, Intervals>,
): void {
  const { result } = JSON.parse(readFileSync(path, 'utf8')) as Report;
  for (const { url, functions } of result) {
    const script = url.startsWith('file:') ? fileURLToPath(url) : url;
    if (!/^(build|dist|src)\//.test(script.slice(folder.length + 1))) continue;
    const file = script.slice(folder.length + 1);
    // V8 reports the module first, and omits it if it was loaded before.
    const [outer] = functions[0]?.ranges ?? [];
    const isLoaded = outer?.startOffset === 0 && outer.count > 0;
    const ranges = functions.flatMap((one, at) =>
      one.ranges.map((range) => ({ ...range, isModule: isLoaded && at === 0 })),
    );
    const flat = flatten(ranges);
    if (flat.called.length > 0) called[file] = unite(called[file] ?? [], flat.called);
    if (isLoaded) modules[file] ??= flat.module;
  }
}
