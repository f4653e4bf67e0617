import { describe, expect, test } from '@jest/globals';
import { toFirstId } from '../../src/audit/audit-event.js';
import { AuditEventEntity } from '../../src/audit/audit.entity.js';
import { LATE_MILLIS, type SealFacts, SealKeys, hashRow } from '../../src/audit/seal.js';
import { SealingTimes, findChainFault, findLateFault } from '../../src/audit/seal-faults.js';
import { toDbTime } from '../../src/platform/common/time.js';

/** What is refused of seals of which the hashes fit: without a key, whoever can write the table can make those. */
const MINUTE = 60_000;
const NOON = Date.UTC(2026, 0, 31, 12);
const HASH = 'a'.repeat(64);
const keys = new SealKeys([]);
const time = (millis: number) => toDbTime(new Date(millis));
const idOf = (millis: number) => toFirstId(millis);
const NEVER = '00000000-0000-0000-0000-000000000000';

const before = { number: 4, hash: HASH, until_id: idOf(NOON), purged: 2 };
function sealed(facts: Partial<SealFacts> = {}) {
  const all: SealFacts = {
    number: 5,
    sealed: time(NOON + 65 * MINUTE),
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
const faultIn = (facts?: Partial<SealFacts>, isAsRead = true) =>
  findChainFault({ seal: sealed(facts), isAsRead }, before, keys, undefined);

describe('a seal with a hash that fits', () => {
  test.each([
    ['the next one', {}],
    ['of an hour without events', { until_id: before.until_id, row_count: 0 }],
    ['that lets more be deleted', { purged: 4 }],
  ])('%s is good', (_, facts) => {
    expect(faultIn(facts)).toBeUndefined();
  });
  test.each<[string, Partial<SealFacts>, RegExp]>([
    ['of a number that is too high', { number: 6 }, /are missing/],
    ['of a number that was there', { number: 4 }, /are missing/],
    ['of number 0', { number: 0 }, /its number is invalid/],
    ['that ends before the one before it', { until_id: idOf(NOON - 1) }, /ends before/],
    ['that takes back what may be deleted', { purged: 1 }, /deleted events is invalid/],
    ['that lets its own events be deleted', { purged: 5 }, /deleted events is invalid/],
    ['that lets later events be deleted', { purged: 9 }, /deleted events is invalid/],
  ])('%s is refused', (_, facts, message) => {
    expect(faultIn(facts)).toMatch(message);
  });
  test('in a form that the service does not write is refused', () => {
    expect(faultIn({}, false)).toMatch(/was changed/);
  });
});

describe('an entry for a late row', () => {
  const LOOK = NOON + 65 * MINUTE;
  const BEFORE = NOON + 5 * MINUTE;
  const looks = (...times: number[]) => {
    const all = new SealingTimes();
    for (const millis of times) all.advance(time(millis));
    return all;
  };
  const rowOf = (id: string) =>
    Object.assign(new AuditEventEntity(), {
      id,
      time: time(NOON),
      actor_kind: 'system',
      actor_id: null,
      action: 'user.updated',
      target_kind: 'user',
      target_id: NEVER,
      changes: '[]',
      request_id: 'r',
      ip: '',
    });
  const judged = (
    id: string,
    { at = looks(BEFORE, LOOK), row_hash = hashRow(rowOf(id)), deleted = NEVER } = {},
  ) =>
    findLateFault(
      { entry: { id, seal: 5, row_hash }, isAsRead: true, row: rowOf(id) },
      sealed(),
      before,
      at,
      deleted,
    );
  test.each([
    ['just before the end of the seal before', NOON - 1],
    ['as old as one may be at the look before', BEFORE - LATE_MILLIS],
  ])('%s is good', (_, millis) => {
    expect(judged(idOf(millis))).toBeUndefined();
  });
  test.each([
    ['a millisecond too old for the look before', idOf(BEFORE - LATE_MILLIS - 1), /it is not late/],
    ['of the range of its own seal', idOf(NOON), /was inserted/],
    ['of the range of its own seal, late in it', idOf(NOON + 59 * MINUTE), /was inserted/],
    ['of the future at its look', idOf(LOOK + LATE_MILLIS + 1), /its time was in the future/],
    [
      'of an id that the service does not make',
      `${idOf(NOON - 1).slice(0, 35)}z`,
      /never creates such an id/,
    ],
  ])('%s is refused', (_, id, message) => {
    expect(judged(id)).toMatch(message);
  });
  test('of the first look is refused: nothing was looked at before', () => {
    expect(judged(idOf(NOON - 1), { at: looks(LOOK) })).toMatch(/was inserted/);
  });
  test('of several seals of one look is compared with the look before them', () => {
    expect(judged(idOf(NOON - 1), { at: looks(BEFORE, LOOK, LOOK, LOOK) })).toBeUndefined();
    expect(judged(idOf(BEFORE - LATE_MILLIS - 1), { at: looks(BEFORE, LOOK, LOOK) })).toMatch(/was inserted/);
  });
  test('without its row is good only where the retention may have deleted it', () => {
    const entry = { id: idOf(NOON - 1), seal: 5, row_hash: HASH };
    const taken = (deleted: string) =>
      findLateFault(
        { entry, isAsRead: true, row: undefined },
        sealed(),
        before,
        looks(BEFORE, LOOK),
        deleted,
      );
    expect(taken(idOf(NOON))).toBeUndefined();
    expect([NEVER, entry.id].map(taken)).toEqual([0, 1].map(() => expect.stringMatching(/was removed/)));
  });
});
