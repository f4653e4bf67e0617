import { type EngineName, hasMariaDb } from './engine.js';

export interface Settings {
  engines: EngineName[];
  cases: string[];
  rounds: number;
  seconds: number;
  /** Number of rows of the imported file. */
  rows: number;
  /** True if all cases run on both engines. Only such results are stored. */
  isComplete: boolean;
}

/**
 * Reads BENCH_ENGINE, BENCH_CASES, BENCH_ROUNDS, BENCH_SECONDS and BENCH_ROWS.
 * @throws Error that names the invalid variable.
 */
export function readSettings(known: readonly string[], variables: NodeJS.ProcessEnv = process.env): Settings {
  const list = <T extends string>(name: string, all: readonly T[]): T[] => {
    const chosen = variables[name]?.split(',').map((item) => item.trim()) ?? [...all];
    const wrong = chosen.find((item) => !all.includes(item as T));
    if (wrong !== undefined) throw new Error(`${name}: ${wrong} is unknown. Use one of ${all.join(', ')}.`);
    return chosen as T[];
  };
  const number = (name: string, fallback: number, most: number): number => {
    const value = Number(variables[name] ?? fallback);
    if (!(value > 0 && value <= most)) throw new Error(`${name} must be a number up to ${most}`);
    return value;
  };
  const engines = list<EngineName>('BENCH_ENGINE', ['sqlite', 'mariadb']);
  const missing = engines.includes('mariadb') && !hasMariaDb();
  if (missing) process.stdout.write('mariadbd is not installed. Only SQLite is measured.\n');
  const cases = list('BENCH_CASES', known);
  return {
    engines: missing ? engines.filter((engine) => engine !== 'mariadb') : engines,
    cases,
    rounds: Math.round(number('BENCH_ROUNDS', 3, 100)),
    seconds: number('BENCH_SECONDS', 2, 600),
    rows: Math.round(number('BENCH_ROWS', 100_000, 1_000_000)),
    isComplete: !missing && engines.length === 2 && cases.length === known.length,
  };
}
