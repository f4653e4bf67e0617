import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** Longest run of the tests of one fault, in milliseconds. A fault that exceeds it counts as detected. */
const LONGEST = 1_200_000;

interface JestResults {
  testResults: {
    name: string;
    status: string;
    message: string;
    startTime: number;
    endTime: number;
    assertionResults: { status: string; fullName: string }[];
  }[];
}

export interface FileResult {
  file: string;
  seconds: number;
  /** The first test that failed, undefined if all passed. */
  failure: string | undefined;
}

export interface JestRun {
  /** Test files in the order in which they run. Undefined runs all of them. */
  files?: readonly string[];
  engines: string;
  /** Folder for the coverage of each test file. */
  coverage?: string;
}

/** Runs test files in a folder. With `files` it stops at the first failure. */
export async function runJest(folder: string, { files, engines, coverage }: JestRun): Promise<FileResult[]> {
  const output = join(folder, 'artifacts-mutants.json');
  rmSync(output, { force: true });
  const child = spawn(
    process.execPath,
    [
      ...['--experimental-vm-modules', '--no-warnings', 'node_modules/jest/bin/jest.js'],
      ...['--config', 'tools/mutants/jest.config.mjs', '--json', `--outputFile=${output}`],
      ...(files ? ['--bail', '--runTestsByPath', ...files] : []),
    ],
    {
      cwd: folder,
      detached: true, // the processes of the tests end with it
      stdio: ['ignore', 'ignore', coverage === undefined ? 'pipe' : 'inherit'],
      env: {
        ...process.env,
        ENGINES: engines,
        MUTANTS_ORDER: JSON.stringify(files ?? []),
        ...(coverage !== undefined && { MUTANTS_COVERAGE: coverage }),
      },
    },
  );
  let printed = '';
  child.stderr?.on('data', (chunk: Buffer) => (printed += chunk.toString()));
  const kill = (): void => {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  };
  const timer = files && setTimeout(kill, LONGEST);
  process.once('exit', kill);
  await once(child, 'close');
  process.off('exit', kill);
  clearTimeout(timer);
  if (!existsSync(output)) {
    // Jest writes no results after --bail, so the failed test is read from its messages.
    const [, file = 'all', failure = 'the tests did not end'] =
      /^FAIL [\w, ]+ (test\/\S+)[^]*?^ *● (.*)$/m.exec(printed) ?? [];
    return [{ file, seconds: 0, failure }];
  }
  const { testResults } = JSON.parse(readFileSync(output, 'utf8')) as JestResults;
  return testResults.map(({ name, status, message, startTime, endTime, assertionResults }) => ({
    file: name.slice(folder.length + 1),
    seconds: (endTime - startTime) / 1000,
    failure:
      status === 'failed'
        ? (assertionResults.find((test) => test.status === 'failed')?.fullName ?? message.slice(0, 300))
        : undefined,
  }));
}
