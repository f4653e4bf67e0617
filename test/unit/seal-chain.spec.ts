import { describe, expect, test } from '@jest/globals';
import { toFirstId } from '../../src/audit/audit-event.js';
import { AuditEventEntity } from '../../src/audit/audit.entity.js';
import { LATE_MILLIS, type SealFacts, SealKeys, hashRow } from '../../src/audit/seal.js';
import { SealingTimes, findChainFault, findLateFault } from '../../src/audit/seal-faults.js';
import { toDbTime } from '../../src/platform/common/time.js';

/** Tests faults in seals with valid hashes. Without a key, anyone who can write the table can create such seals. */
const MINUTE = 60_000;
const NOON = Date.UTC(2026, 0, 31, 12);
const HASH = 'a'.repeat(64);
const keys = new SealKeys([]);
const toTime = (millis: number) => toDbTime(new Date(millis));
const idOf = (millis: number) => toFirstId(millis);
const NEVER = '00000000-0000-0000-0000-000000000000';

const before = { number: 4, hash: HASH, until_id: idOf(NOON), purged: 2 };
function sealOf(facts: Partial<SealFacts> = {}) {
  const all: SealFacts = {
    number: 5,
    sealed: toTime(NOON + 65 * MINUTE),
    until_id: idOf(NOON + 60 * MINUTE),
    row_count: 3,
    rows_hash: HASH,
    late_count: 0,
    late_hash: HASH,
    purged: 2,
    key_id: '',
    members_hash: HASH,
    ...facts,
  };
  return { ...all, hash: keys.computeHash(all, before.hash) };
}
const findFault = (facts?: Partial<SealFacts>, isIntact = true) =>
  findChainFault({ seal: sealOf(facts), isIntact }, before, keys, undefined);

describe('an audit seal with a valid hash', () => {
  test.each([
    ['with the next number', {}],
    ['of an hour without events', { until_id: before.until_id, row_count: 0 }],
    ['that permits more deletions', { purged: 4 }],
  ])('%s is accepted', (_, facts) => {
    expect(findFault(facts)).toBeUndefined();
  });
  test.each<[string, Partial<SealFacts>, RegExp]>([
    ['with a skipped number', { number: 6 }, /are missing/],
    ['with a repeated number', { number: 4 }, /are missing/],
    ['with number 0', { number: 0 }, /its number is invalid/],
    ['that ends before the previous seal', { until_id: idOf(NOON - 1) }, /ends before/],
    ['that permits fewer deletions', { purged: 1 }, /deleted events is invalid/],
    ['that permits deletion of its own events', { purged: 5 }, /deleted events is invalid/],
    ['that permits deletion of later events', { purged: 9 }, /deleted events is invalid/],
  ])('%s is refused', (_, facts, message) => {
    expect(findFault(facts)).toMatch(message);
  });
  test('in an invalid form is refused', () => {
    expect(findFault({}, false)).toMatch(/was changed/);
  });
});

describe('a late seal entry', () => {
  const PASS = NOON + 65 * MINUTE;
  const BEFORE = NOON + 5 * MINUTE;
  const looks = (...times: number[]) => {
    const all = new SealingTimes();
    for (const millis of times) all.advanceTo(toTime(millis));
    return all;
  };
  const rowOf = (id: string) =>
    Object.assign(new AuditEventEntity(), {
      id,
      time: toTime(NOON),
      actor_kind: 'system',
      actor_id: null,
      action: 'user.updated',
      target_kind: 'user',
      target_id: NEVER,
      changes: '[]',
      request_id: 'r',
      ip: '',
    });
  const check = (
    id: string,
    { at = looks(BEFORE, PASS), row_hash = hashRow(rowOf(id)), deleted = NEVER } = {},
  ) => {
    const late = { entry: { id, seal: 5, row_hash }, isIntact: true, row: rowOf(id) };
    return findLateFault(late, sealOf(), before, at, deleted);
  };
  test.each([
    ['from just before the end of the previous seal', NOON - 1],
    ['of the maximum age', BEFORE - LATE_MILLIS],
  ])('%s is accepted', (_, millis) => {
    expect(check(idOf(millis))).toBeUndefined();
  });
  test.each([
    ['over the maximum age', idOf(BEFORE - LATE_MILLIS - 1), /it is not late/],
    ['from the start of its own seal', idOf(NOON), /was not written/],
    ['from the end of its own seal', idOf(NOON + 59 * MINUTE), /was not written/],
    ['from the future', idOf(PASS + LATE_MILLIS + 1), /it is newer than the seal/],
    ['with an invalid id', `${idOf(NOON - 1).slice(0, 35)}z`, /has an invalid id/],
  ])('%s is refused', (_, id, message) => {
    expect(check(id)).toMatch(message);
  });
  test('is refused in the first sealing pass', () => {
    expect(check(idOf(NOON - 1), { at: looks(PASS) })).toMatch(/was not written/);
  });
  test('has an age relative to the previous sealing pass', () => {
    expect(check(idOf(NOON - 1), { at: looks(BEFORE, PASS, PASS, PASS) })).toBeUndefined();
    const tooOld = idOf(BEFORE - LATE_MILLIS - 1);
    expect(check(tooOld, { at: looks(BEFORE, PASS, PASS) })).toMatch(/was not written/);
  });
  test('without its event needs an expired retention period', () => {
    const entry = { id: idOf(NOON - 1), seal: 5, row_hash: HASH };
    const late = { entry, isIntact: true, row: undefined };
    const faultFor = (deleted: string) => findLateFault(late, sealOf(), before, looks(BEFORE, PASS), deleted);
    expect(faultFor(idOf(NOON))).toBeUndefined();
    expect([NEVER, entry.id].map(faultFor)).toEqual([0, 1].map(() => expect.stringMatching(/was removed/)));
  });
});
