import { execFileSync } from 'node:child_process';
import { cpus, totalmem } from 'node:os';

/** Describes the machine on which the results were measured. */
export function describeMachine() {
  return {
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: cpus().length,
    /** Memory in GiB. */
    memory: Math.round(totalmem() / 2 ** 30),
    node: process.versions.node,
  };
}

/** Returns the measured commit, with `+` if the sources differ from it. */
export function describeCommit(): string {
  const git = (...args: string[]): string => execFileSync('git', args).toString().trim();
  try {
    const changed = git('status', '--porcelain', '--', 'src', 'package-lock.json') !== '';
    return `${git('rev-parse', '--short', 'HEAD')}${changed ? '+' : ''}`;
  } catch {
    return 'unknown'; // not a clone
  }
}
