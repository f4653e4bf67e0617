import { words } from '../lib/text.js';
import type { components } from './generated.js';

type Service = components['schemas']['ImportOptionsDto'];
type Texts<Name extends keyof Service> = Record<NonNullable<Service[Name]> & string, string>;

/** What options of an import are called. */
const NAMES: Partial<Record<string, string>> = {
  dataset: 'Data set',
  missing: 'Users that the file lacks',
  returning: 'Users who are in the file again',
  adopt: 'Users without an external ID',
};

/** What the values of options mean; TypeScript knows when the service has another one. */
export const VALUES = {
  mode: {
    upsert: 'Create and update',
    create_only: 'Create only',
    update_only: 'Update only',
  } satisfies Texts<'mode'>,
  missing: { keep: 'Left alone', report: 'Listed', block: 'Blocked' } satisfies Texts<'missing'>,
  returning: { reactivate: 'Active again', report: 'Listed' } satisfies Texts<'returning'>,
  blank_cells: {
    clear: 'Empty the field',
    keep: 'Leave the field alone',
  } satisfies Texts<'blank_cells'>,
  adopt: {
    none: 'Left alone',
    email: 'Taken over by their e-mail',
    username: 'Taken over by their username',
  } satisfies Texts<'adopt'>,
  delimiter: { ',': 'Comma', ';': 'Semicolon', tab: 'Tab', '|': 'Bar |' },
} as const;

const texts: Partial<Record<string, Partial<Record<string, string>>>> = VALUES;

/** The name of an option. */
export const optionName = (option: string): string => NAMES[option] ?? words(option);

/** What a value of an option means. */
export function optionText(option: string, value: unknown): string {
  const text = Array.isArray(value) ? value.join(', ') : value === true ? 'yes' : String(value);
  return texts[option]?.[text] ?? text;
}
