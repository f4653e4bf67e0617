import { existsSync } from 'node:fs';
import { type Env, loadEnv } from './env.js';

/** The settings of this process: its environment, and for what is not set there the file `.env` beside it. */
export function readSettings(): Env {
  if (existsSync('.env')) process.loadEnvFile('.env');
  return loadEnv();
}

/** Runs a program; a failure is told in a line without a stack, and ends it with `code`. */
export function runProgram(refusal: string, program: () => Promise<void>, code = 1): void {
  program().catch((error: unknown) => {
    process.stderr.write(`${refusal} ${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(code);
  });
}
