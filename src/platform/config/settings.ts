import { existsSync, readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { errorCodeOf, messageOf } from '../common/errors.js';
import { maskSecrets } from '../common/secrets.js';
import { MIN_NODE_VERSION, isNodeNewEnough } from '../common/version.js';
import { type Env, EnvError, loadEnv } from './env.js';

/** A flag with a settings file, which Node.js has read. */
const FILE_FLAG = /^--env-file(?:-if-exists)?=(.+)$/;

/**
 * Reads the settings from the environment and from the file `.env` in the working directory. The environment takes
 * precedence.
 * @throws EnvError for invalid settings and unknown names in a settings file, and Error if a file cannot be read.
 */
export function readSettings(): Env {
  const flagFiles = process.execArgv.flatMap((flag) => FILE_FLAG.exec(flag)?.[1] ?? []);
  const files = ['.env', ...flagFiles].filter((file) => existsSync(file));
  const names = files.flatMap((file) => Object.keys(parseEnv(readFileSync(file, 'utf8'))));
  if (files[0] === '.env') process.loadEnvFile('.env');
  return loadEnv(process.env, names);
}

/** @throws EnvError with the name of the setting if the file cannot be read. */
export function readPemFile(setting: string, file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    throw new EnvError(`${setting}: the file cannot be read (${errorCodeOf(error) ?? 'error'}).`);
  }
}

/**
 * Heap growth at which V8 runs a full garbage collection, in percent. The default is much higher and would let garbage
 * fill 100 MiB.
 */
const HEAP_GROWTH = 50;

/**
 * Runs a program after checking the version of Node.js. If the program fails, prints the reason on one line, without
 * a stack, and ends the process with `exitCode`.
 * @param failurePrefix text to print before the reason.
 */
export function runProgram(failurePrefix: string, program: () => Promise<void>, exitCode = 1): Promise<void> {
  const exitWith = (reason: string): never => {
    process.stderr.write(maskSecrets(`${reason}\n`));
    process.exit(exitCode);
  };
  const { node } = process.versions;
  if (!isNodeNewEnough(node))
    exitWith(
      `Rollcall needs Node.js ${MIN_NODE_VERSION} or later, but this is ${node}. Install version 24, for example.`,
    );
  setFlagsFromString(`--heap-growing-percent=${HEAP_GROWTH}`);
  return program().catch((error: unknown) => exitWith(`${failurePrefix} ${messageOf(error)}`));
}
