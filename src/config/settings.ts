import { setFlagsFromString } from 'node:v8';
import { existsSync } from 'node:fs';
import { type Env, loadEnv } from './env.js';

/** The settings of this process: its environment, and for what is not set there the file `.env` beside it. */
export function readSettings(): Env {
  if (existsSync('.env')) process.loadEnvFile('.env');
  return loadEnv();
}

/**
 * How much the heap may grow beyond what lives in it before the whole of it is cleaned, in percent. V8 would let it grow to
 * four times as much: what is left of requests and rows then fills 100 MiB before anybody looks.
 */
const HEAP_GROWTH = 50;

/** Runs a program; a failure is told in a line without a stack, and ends it with `code`. */
export function runProgram(refusal: string, program: () => Promise<void>, code = 1): void {
  setFlagsFromString(`--heap-growing-percent=${HEAP_GROWTH}`);
  program().catch((error: unknown) => {
    process.stderr.write(`${refusal} ${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(code);
  });
}
