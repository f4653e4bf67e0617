import { expect, test } from '@jest/globals';
import * as rules from 'class-validator';
import { fieldsOf } from '../../src/platform/common/fields.js';
import { readInput } from '../../src/platform/input/read-input.js';

/** One field for each decorator of class-validator that an input class may use. */
class Sample {
  @rules.IsDefined() isDefined?: unknown;
  @rules.IsNotEmpty() isNotEmpty?: unknown;
  @rules.IsString() isString?: unknown;
  @rules.IsBoolean() isBoolean?: unknown;
  @rules.IsObject() isObject?: unknown;
  @rules.IsIn(['a', 'b']) isIn?: unknown;
  @rules.Matches(/^a+$/) matches?: unknown;
  @rules.MaxLength(2) maxLength?: unknown;
  @rules.ArrayMinSize(2) arrayMinSize?: unknown;
  @rules.ArrayMaxSize(1) arrayMaxSize?: unknown;
  @rules.ArrayUnique() arrayUnique?: unknown;
  @rules.ArrayMaxSize(9) @rules.IsString({ each: true }) each?: unknown;
}

const FIELDS = [...fieldsOf(Sample)];
const VALUES = ['', 'a', 'abc', 0, 3, 4.5, true, [], ['a'], ['a', 'a'], [1, 2], {}, { a: 1 }];

// readInput reads undocumented metadata of class-validator. A version with other metadata fails here.
test.each(FIELDS)('readInput refuses the same values as class-validator for the decorator %s', (field) => {
  const findRefused = (find: (raw: Record<string, unknown>) => string[]) =>
    VALUES.filter((value) => find({ isDefined: 1, [field]: value }).includes(field));
  const own = findRefused((raw) => readInput(Sample, raw).errors.map((error) => error.field));
  const library = findRefused((raw) =>
    rules
      .validateSync(Object.assign(new Sample(), raw), { skipMissingProperties: true })
      .map(({ property }) => property),
  );
  expect(own).toEqual(library);
  if (field !== 'isDefined') expect(own).not.toEqual([]);
});

test('readInput reports a missing field as class-validator does', () => {
  const { errors } = readInput(Sample, {});
  expect(errors).toMatchObject([{ field: 'isDefined', code: 'required' }]);
  const library = rules.validateSync(new Sample(), { skipMissingProperties: true });
  expect(library.map(({ property }) => property)).toEqual(['isDefined']);
});
