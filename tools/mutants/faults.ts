import { readFileSync } from 'node:fs';

/** A change of one line, such as a programmer could make by mistake. */
export interface Fault {
  feature: string;
  file: string;
  /** Part of a line that occurs once in the file. */
  before: string;
  after: string;
  /** Change in behavior that a client would notice. */
  effect: string;
  /** `mariadb` if only this engine runs the line. */
  engines?: string;
}

/** Reads faults.json. @param features the features to read. An empty list selects all. */
export function readFaults(features: readonly string[]): Fault[] {
  const path = new URL('faults.json', import.meta.url);
  const all = JSON.parse(readFileSync(path, 'utf8')) as Record<string, Omit<Fault, 'feature'>[]>;
  const unknown = features.filter((name) => !(name in all));
  if (unknown.length > 0)
    throw new Error(`Unknown feature ${unknown.join(', ')}. Features: ${Object.keys(all).join(', ')}`);
  return Object.entries(all)
    .filter(([feature]) => features.length === 0 || features.includes(feature))
    .flatMap(([feature, faults]) => faults.map((fault) => ({ feature, ...fault })));
}
