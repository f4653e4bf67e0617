import { readFileSync } from 'node:fs';

/** The sample export of a source. */
export const sample = (name: string): Buffer =>
  readFileSync(new URL(`../../../samples/exports/${name}.csv`, import.meta.url));
