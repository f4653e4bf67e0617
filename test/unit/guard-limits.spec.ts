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
  ['IMPORT_MAX_DEACTIVATIONS', 'IMPORT_GUARD_DEACTIVATIONS_ROWS'],
  ['IMPORT_MAX_DEACTIVATIONS_PERCENT', 'IMPORT_GUARD_DEACTIVATIONS_PERCENT'],
  ['IMPORT_MAX_DEACTIVATIONS_TOTAL', 'IMPORT_GUARD_DEACTIVATIONS_CAP_ROWS'],
  ['IMPORT_MAX_REACTIVATIONS', 'IMPORT_GUARD_REACTIVATIONS_ROWS'],
  ['IMPORT_MAX_REACTIVATIONS_TOTAL', 'IMPORT_GUARD_REACTIVATIONS_ROWS'],
  ['IMPORT_WEEK_FACTOR', 'IMPORT_GUARD_DEACTIVATIONS_ROWS'],
  ['IMPORT_MAX_CHANGED', 'IMPORT_GUARD_CHANGED_FIELD_ROWS'],
  ['IMPORT_MAX_CHANGED_LOGINS_PERCENT', 'IMPORT_GUARD_CHANGED_LOGINS_PERCENT'],
  ['IMPORT_MAX_COLUMN', 'IMPORT_GUARD_CHANGED_FIELD_ROWS'],
  ['IMPORT_MAX_EMPTIED', 'IMPORT_GUARD_EMPTIED_FIELD_ROWS'],
  ['IMPORT_MAX_MOVED', 'IMPORT_GUARD_SLID_COLUMN_ROWS'],
  ['IMPORT_MAX_SAME_PERCENT', 'IMPORT_GUARD_CHANGED_FIELD_PERCENT'],
  ['IMPORT_MAX_GARBLED', 'IMPORT_GUARD_GARBLED_TEXT_ROWS'],
  ['IMPORT_MAX_NEW_KEYS', 'IMPORT_GUARD_CREATED_ROWS'],
  ['IMPORT_MIN_SIZE_PERCENT', 'IMPORT_GUARD_DEACTIVATIONS_ROWS'],
  ['IMPORT_MAX_UNDONE_PERCENT', 'IMPORT_GUARD_OLD_FILE_PERCENT'],
  ['IMPORT_MAX_OLD_FILE', 'IMPORT_GUARD_OLD_FILE_ROWS'],
  ['IMPORT_MAX_FOREIGN', 'IMPORT_GUARD_FOREIGN_DATASET_ROWS'],
  ['IMPORT_MAX_ERRORS_PERCENT', 'IMPORT_GUARD_ERRORS_PERCENT'],
  ['IMPORT_MAX_REPEATED', 'IMPORT_GUARD_AFTER_REVERT_ROWS'],
  ['IMPORT_SMALL_DATASET', 'IMPORT_GUARDS'],
  ['IMPORT_SMALL_DATASET_ROWS', 'IMPORT_GUARDS'],
])('the removed setting %s is refused with %s', (setting, replacement) => {
  const message = `Invalid settings:\n- ${setting} is no longer supported. Set ${replacement} instead`;
  expect(() => getLimits({ [setting]: '5' })).toThrow(new Error(message));
});

test.each([
  ['week', 'deactivations'],
  ['moved_values', 'slid_column'],
  ['same_value', 'changed_field'],
  ['changed_keys', 'created'],
  ['shrunken_file', 'deactivations'],
  ['same_file', 'old_file'],
  ['small_dataset', 'preset'],
])('the removed guard %s is refused with %s', (guard, replacement) => {
  expect(validate(guard, { rows: 1 })).toBe(`is not a guard; use ${replacement} instead`);
});

test('unknown names in a profile are refused', () => {
  const total = { total: 5 };
  expect(validate('deactivations', total)).toBe('is not a limit of deactivations; use cap_rows instead');
  expect(validate('reactivations', total)).toBe('is not a limit of reactivations; use one of rows, percent');
  expect(validate('errors', { row: 5 })).toBe('is not a limit of errors; did you mean rows?');
  expect(validate('constructor', {})).toMatch(/^is not a guard; use one of preset, foreign_dataset, /);
  expect(validate('errors', 5)).toBe('must be an object with rows, percent');
  expect(validate('preset', 'lax')).toBe('must be one of strict, normal, relaxed');
});
