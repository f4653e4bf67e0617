import { expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../support/process/process.js';

/** What the built programs have in them: a process keeps all of it in memory. */
const textOf = (name: string): string => readFileSync(join(ROOT, `dist/${name}.js`), 'utf8');
const schemaTools = 'MigrationExecutor'; // of TypeORM

test.each(['main', 'import-worker', 'read-worker'])('%s has no tools for the schema in it', (name) => {
  expect(textOf(name)).not.toContain(schemaTools);
});

test.each(['cli', 'migrator'])('%s has them', (name) => {
  expect(textOf(name)).toContain(schemaTools);
});
