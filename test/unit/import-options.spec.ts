import { expect, test } from '@jest/globals';
import { createImportCommand } from '../../src/cli/import.command.js';
import { fieldsOf } from '../../src/platform/common/fields.js';
import { RequestedOptions } from '../../src/import/runs/import-options.js';
import { application } from '../support/process/command.js';

/** Options of the command that are not options of an import. */
const OWN = ['url', 'key', 'key_file', 'preview', 'suggest', 'approve', 'json', 'reason'];

/** Options of `imports fix`. */
const CORRECTIONS = ['adopt_rows', 'corrects'];

test('the import command has the options of POST /imports', () => {
  const command = createImportCommand(application);
  const names = command.options.map(({ long }) => long?.slice(2).replaceAll('-', '_') ?? '');
  expect(names.filter((name) => !OWN.includes(name)).sort()).toEqual(
    [...fieldsOf(RequestedOptions)].filter((name) => !CORRECTIONS.includes(name)).sort(),
  );
});
