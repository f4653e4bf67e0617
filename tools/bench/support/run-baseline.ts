import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** Cost of some work, measured by the program that did it. */
export interface Spent {
  seconds: number;
  cpuSeconds: number;
}

/** Runs a baseline program to its end. @returns the cost that it reports. */
export async function runBaseline(
  script: 'parse-and-read' | 'bulk-load',
  args: readonly string[],
  cores: string | undefined,
): Promise<Spent> {
  const pinned = cores === undefined ? [] : ['taskset', '-c', cores];
  const node = [
    process.execPath,
    '--import',
    '@swc-node/register/esm-register',
    `tools/bench/baselines/${script}.ts`,
  ];
  const [file = '', ...rest] = [...pinned, ...node, ...args];
  const { stdout } = await promisify(execFile)(file, rest);
  return JSON.parse(stdout) as Spent;
}
