import { existsSync, readFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { errorCode } from '../common/errors.js';
import { withoutSecrets } from '../common/secrets.js';
import { NEEDED_NODE, isNodeNewEnough } from '../common/version.js';
import { type Env, EnvError, loadEnv } from './env.js';

/**
 * The settings of this process: its environment, and for variables that are not set there the file `.env` in the
 * working directory. @throws EnvError as `loadEnv`; Error when `.env` cannot be read.
 */
export function readSettings(): Env {
  if (existsSync('.env')) process.loadEnvFile('.env');
  return loadEnv();
}

/**
 * Reads the certificate or key file that a setting names.
 * @throws EnvError naming the setting when it cannot be read.
 */
export function readPemFile(setting: string, file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    throw new EnvError(`${setting} names a file that cannot be read (${errorCode(error) ?? 'error'}).`);
  }
}

/**
 * Percent by which the heap may grow beyond its live objects before a full collection. V8's default lets it grow to four
 * times their size, so that garbage of requests and rows fills 100 MiB first.
 */
const HEAP_GROWTH = 50;

/**
 * Runs a program, where this Node.js is new enough. A failure is printed on one line without a stack and ends the process
 * with `code`. The promise is settled when the program is done.
 */
export function runProgram(refusal: string, program: () => Promise<void>, code = 1): Promise<void> {
  const end = (reason: string): never => {
    process.stderr.write(withoutSecrets(`${reason}\n`));
    process.exit(code);
  };
  const { node } = process.versions;
  if (!isNodeNewEnough(node))
    end(`Rollcall needs Node.js ${NEEDED_NODE} or later, such as 24, and this is ${node}.`);
  setFlagsFromString(`--heap-growing-percent=${HEAP_GROWTH}`);
  return program().catch((error: unknown) =>
    end(`${refusal} ${error instanceof Error ? error.message : String(error)}`),
  );
}
