import { expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../support/process/process.js';

/** Code in the built programs, all of which a process keeps in memory. */
const readProgram = (name: string): string => readFileSync(join(ROOT, `dist/${name}.js`), 'utf8');
const schemaTools = 'MigrationExecutor'; // a class of TypeORM

test.each(['main', 'import-worker', 'read-worker'])('%s.js contains no migration tool of TypeORM', (name) => {
  expect(readProgram(name)).not.toContain(schemaTools);
});

test.each(['cli', 'migrator'])('%s.js contains the migration tools of TypeORM', (name) => {
  expect(readProgram(name)).toContain(schemaTools);
});
