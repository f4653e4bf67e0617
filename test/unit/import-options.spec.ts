import { expect, test } from '@jest/globals';
import { createImportCommand } from '../../src/cli/import.command.js';
import { fieldsOf } from '../../src/platform/common/fields.js';
import { RequestedOptions } from '../../src/import/runs/import-options.js';
import { application } from '../support/process/command.js';

/** What the command does with the run, and not how the file is imported. */
const OWN = ['url', 'key', 'key_file', 'preview', 'approve', 'json', 'reason'];

test('the command takes every option of POST /imports, by the same name, and no other', () => {
  const command = createImportCommand(application);
  const names = command.options.map(({ long }) => long?.slice(2).replaceAll('-', '_') ?? '');
  expect(names.filter((name) => !OWN.includes(name)).sort()).toEqual([...fieldsOf(RequestedOptions)].sort());
});
