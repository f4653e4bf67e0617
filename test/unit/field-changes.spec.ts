import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Changes, type FieldChange } from '../../src/platform/common/field-changes.js';

const FIELDS = ['username', 'email', 'roles', 'authname', 'password', 'manager_uuid'];
const value = fc.oneof(
  fc.constant(null),
  fc.string(),
  fc.boolean(),
  fc.array(fc.string()),
  fc.dictionary(fc.constantFrom(...FIELDS, 'old', 'new', 'field'), fc.array(fc.string())),
);
const change: fc.Arbitrary<FieldChange> = fc.oneof(
  fc.record({ field: fc.constantFrom(...FIELDS), old: fc.constant(null), new: value }),
  fc.record({ field: fc.constantFrom(...FIELDS), old: value, new: value }),
  fc.record({ field: fc.constantFrom(...FIELDS), new: value }),
  fc.record({ field: fc.constantFrom(...FIELDS) }),
);
const list = fc.uniqueArray(change, { selector: ({ field }) => field });

test('stored field changes are read back unchanged', () => {
  fc.assert(
    fc.property(list, (changes) => {
      expect(Changes.fromText(Changes.fromList(changes).text).list).toEqual(
        JSON.parse(JSON.stringify(changes)),
      );
    }),
  );
});

test('stored changes of a new record are read back unchanged', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom(...FIELDS), value), (values) => {
      const expected = Object.entries(values).map(([field, each]) => ({ field, old: null, new: each }));
      const read = Changes.fromText(Changes.fromList(expected).text);
      expect(read.list).toEqual(expected);
      expect(read.values).toEqual({ ...values });
    }),
  );
});

test('a search for a field in stored changes ignores the values', () => {
  fc.assert(
    fc.property(list, fc.constantFrom(...FIELDS), (changes, field) => {
      const { text } = Changes.fromList(changes);
      const found = Changes.buildSearchTexts(field).some((piece) => text.includes(piece));
      expect(found).toBe(changes.some((each) => each.field === field));
    }),
  );
});
