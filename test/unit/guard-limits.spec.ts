import { expect, test } from '@jest/globals';
import {
  LimitSettings,
  isPercent,
  toSettingName,
  validateLimits,
} from '../../src/import/guards/guard-limits.js';
import { GUARDS } from '../../src/import/guards/guard-table.js';

const getLimits = (settings: Readonly<Record<string, string>>) =>
  new LimitSettings('normal', new Map(Object.entries(settings))).getLimits(100, undefined);
const validate = (guard: string, limits: unknown): string | undefined =>
  validateLimits([[guard, limits]])[0]?.message;

test('every limit can be set by a setting and by a profile', () => {
  for (const { name, limits } of GUARDS)
    for (const limit of Object.keys(limits)) {
      const value = isPercent(limit) ? 16.1 : 17;
      expect(getLimits({ [toSettingName(name, limit)]: String(value) })[name]?.[limit]).toBe(value);
      expect(validateLimits([[name, { [limit]: value }]])).toEqual([]);
    }
});

test('a percentage may have any decimal', () => {
  for (let tenths = 0; tenths <= 1000; tenths++)
    expect(validate('errors', { percent: Number((tenths / 10).toFixed(1)) })).toBeUndefined();
});

test.each(['-1', '1.5', '1e3', '0x10', ' 5', '', '1000001', 'x'])(
  'the number of rows %p is refused',
  (text) => {
    expect(() => getLimits({ IMPORT_GUARD_ERRORS_ROWS: text })).toThrow(
      /^Invalid settings:\n- IMPORT_GUARD_ERRORS_ROWS must be an integer/,
    );
  },
);

test.each([
  ['IMPORT_GUARD_ERROR_ROWS', 'Did you mean IMPORT_GUARD_ERRORS_ROWS?'],
  ['IMPORT_GUARD_WEEKS', 'See docs/imports.md for the limits of the guards'],
])('the unknown setting %s is refused with a hint', (setting, hint) => {
  const message = `Invalid settings:\n- ${setting} is not a limit of a guard. ${hint}`;
  expect(() => getLimits({ [setting]: '5' })).toThrow(new Error(message));
});

test('unknown names in a profile are refused', () => {
  expect(validate('reactivations', { total: 5 })).toBe(
    'is not a limit of reactivations; use one of rows, percent',
  );
  expect(validate('errors', { row: 5 })).toBe('is not a limit of errors; did you mean rows?');
  expect(validate('constructor', {})).toMatch(/^is not a guard; use one of preset, foreign_dataset, /);
  expect(validate('errors', 5)).toBe('must be an object with rows, percent');
  expect(validate('preset', 'lax')).toBe('must be one of strict, normal, relaxed');
});
