import { expect, test } from '@jest/globals';
import { toDbTime } from '../../src/platform/common/time.js';
import { toFirstId } from '../../src/audit/audit-event.js';
import { RowFaults } from '../../src/audit/seal-faults.js';

/** Rows that the service cannot have written are named, whichever seal covers them. */
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
const judge = (faults: RowFaults, id = ID, millis = NOON, { hasId = true, isAsRead = true } = {}) =>
  faults.checkForm({ row: rowOf(id, millis), hasId, isAsRead });

test.each([0, 1, -MINUTE, MINUTE])('a time %d ms from that of the id is good', (by) => {
  const faults = new RowFaults();
  expect([judge(faults, ID, NOON + by), faults.count]).toEqual([true, 0]);
});

test.each([-MINUTE - 1, MINUTE + 1, 2 * MINUTE, 60 * MINUTE])(
  'a time %d ms from that of the id is not',
  (by) => {
    const faults = new RowFaults();
    expect([judge(faults, ID, NOON + by), faults.named]).toEqual([
      false,
      [{ id: ID, message: 'has a time that differs from its id: it was changed' }],
    ]);
  },
);

test('an id in another form, and a row in another form, are told apart', () => {
  const faults = new RowFaults();
  judge(faults, ID, NOON, { hasId: false, isAsRead: false });
  judge(faults, ID, NOON, { isAsRead: false });
  judge(faults, 'x');
  expect(faults.named.map(({ message }) => message.slice(0, 20))).toEqual([
    'has an id that the s',
    'is stored in a forma',
    'has an id that the s',
  ]);
});

test('all are counted, and the first hundred named', () => {
  const faults = new RowFaults();
  for (let n = 0; n < 250; n++) judge(faults, `no id ${n}`);
  expect([faults.count, faults.named.length, faults.named.at(-1)?.id]).toEqual([250, 100, 'no id 99']);
});
