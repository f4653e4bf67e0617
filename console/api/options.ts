import { formatCode } from '../lib/text.js';
import type { components } from './generated.js';

type ServiceOptions = components['schemas']['ImportOptionsDto'];
type Texts<Name extends keyof ServiceOptions> = Record<NonNullable<ServiceOptions[Name]> & string, string>;

/** Display names of import options. */
const NAMES: Partial<Record<string, string>> = {
  dataset: 'Data set',
  missing: 'Users missing from the file',
  returning: 'Users who reappear in the file',
  adopt: 'Users without an external ID',
  pattern: 'File name pattern',
  skip_lines: 'Lines above the header',
  skip_last_lines: 'Lines below the last row',
  manager_key: 'Column that identifies managers',
  set: 'Template',
  values: 'Word',
};

/** Display texts of option values. Type checking fails if the service adds a value. */
export const VALUES = {
  mode: {
    upsert: 'Create and update',
    create_only: 'Create only',
    update_only: 'Update only',
  } satisfies Texts<'mode'>,
  missing: { keep: 'Ignored', report: 'Listed', block: 'Blocked' } satisfies Texts<'missing'>,
  returning: { reactivate: 'Reactivated', report: 'Listed' } satisfies Texts<'returning'>,
  blank_cells: {
    clear: 'Clear the field',
    keep: 'Keep the value',
  } satisfies Texts<'blank_cells'>,
  adopt: {
    none: 'Ignored',
    email: 'Linked by e-mail',
    username: 'Linked by username',
  } satisfies Texts<'adopt'>,
  delimiter: { ',': 'Comma', ';': 'Semicolon', tab: 'Tab', '|': 'Pipe |' },
} as const;

const texts: Partial<Record<string, Partial<Record<string, string>>>> = VALUES;

/** Returns the display name of an option. */
export const getOptionName = (option: string): string => NAMES[option] ?? formatCode(option);

/** Returns the display text of an option value. */
export function formatOptionValue(option: string, value: unknown): string {
  const text = Array.isArray(value) ? value.join(', ') : value === true ? 'yes' : String(value);
  return texts[option]?.[text] ?? text;
}
