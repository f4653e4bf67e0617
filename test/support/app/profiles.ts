import { readFileSync } from 'node:fs';

/** Reads the sample export of a source. */
export const readSample = (name: string): Buffer =>
  readFileSync(new URL(`../../../samples/exports/${name}.csv`, import.meta.url));
