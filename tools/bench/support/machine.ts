import { execFileSync } from 'node:child_process';
import { cpus, totalmem } from 'node:os';

/** The machine: without it, the numbers mean nothing. */
export function describeMachine() {
  return {
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: cpus().length,
    /** GiB */
    memory: Math.round(totalmem() / 2 ** 30),
    node: process.versions.node,
  };
}

/** The commit that is measured; with `+` where the tree differs from it. */
export function describeCommit(): string {
  const git = (...args: string[]): string => execFileSync('git', args).toString().trim();
  try {
    const changed = git('status', '--porcelain', '--', 'src', 'package-lock.json') !== '';
    return `${git('rev-parse', '--short', 'HEAD')}${changed ? '+' : ''}`;
  } catch {
    return 'unknown'; // not a clone
  }
}
