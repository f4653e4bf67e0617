import { expect, test } from '@jest/globals';
import { toDbTime } from '../../src/platform/common/time.js';
import { toFirstId } from '../../src/audit/audit-event.js';
import { RowFaults } from '../../src/audit/seal-faults.js';

/** Tests the report of audit rows that the service cannot have written. */
const NOON = Date.UTC(2026, 0, 31, 12);
const MINUTE = 60_000;
const ID = toFirstId(NOON);
const rowOf = (id: string, millis = NOON) => ({
  id,
  time: toDbTime(new Date(millis)),
  actor_kind: 'system',
  actor_id: null,
  action: 'user.updated',
  target_kind: 'user',
  target_id: ID,
  changes: '[]',
  request_id: 'r',
  ip: '',
});
const validate = (faults: RowFaults, id = ID, millis = NOON, { hasId = true, isIntact = true } = {}) =>
  faults.validateFormat({ row: rowOf(id, millis), hasId, isIntact });

test('an audit time that equals the time of the id is accepted', () => {
  const faults = new RowFaults();
  expect([validate(faults), faults.count]).toEqual([true, 0]);
});

test.each([-MINUTE, -1, 1, MINUTE])('a difference of %d ms between audit time and id is reported', (by) => {
  const faults = new RowFaults();
  expect([validate(faults, ID, NOON + by), faults.named]).toEqual([
    false,
    [{ id: ID, message: 'has a time that differs from its id: it was changed' }],
  ]);
});

test('the report distinguishes invalid ids and invalid forms of audit rows', () => {
  const faults = new RowFaults();
  validate(faults, ID, NOON, { hasId: false, isIntact: false });
  validate(faults, ID, NOON, { isIntact: false });
  validate(faults, 'x');
  expect(faults.named.map(({ message }) => message.slice(0, 20))).toEqual([
    'was not written by t',
    'is stored in a forma',
    'was not written by t',
  ]);
});

test('only the first 100 invalid audit rows are listed', () => {
  const faults = new RowFaults();
  for (let n = 0; n < 250; n++) validate(faults, `no id ${n}`);
  expect(faults.count).toBe(250);
  expect([faults.named.length, faults.named.at(-1)?.id]).toEqual([100, 'no id 99']);
});
