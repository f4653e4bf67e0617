import { describe, expect, test } from '@jest/globals';
import { createHash } from 'node:crypto';
import { type SealFacts, SealKeys, type SealedRow, hashRow } from '../../src/audit/seal.js';

/** Tests what a hash covers. `audit-tampered` changes every column of the stored rows and seals. */
const ROW: SealedRow = {
  id: '01a00000-0000-7000-8000-000000000001',
  time: '2026-01-31 12:00:00.000',
  actor_kind: 'key',
  actor_id: '01a00000-0000-7000-8000-000000000002',
  action: 'user.updated',
  target_kind: 'user',
  target_id: '01a00000-0000-7000-8000-000000000003',
  changes: '[]',
  request_id: 'r',
  ip: '192.0.2.1',
};
const FACTS: SealFacts = {
  number: 7,
  sealed: '2026-01-31 13:05:00.000',
  until_id: '01a00000-0000-7000-8000-000000000009',
  row_count: 3,
  rows_hash: 'a'.repeat(64),
  late_count: 1,
  late_hash: 'b'.repeat(64),
  purged: 2,
  key_id: '',
  members_hash: 'c'.repeat(64),
};
const KEYS = ['the key of these seals, the new one', 'the key of these seals, the old one'];

const alter = (value: unknown) => (typeof value === 'number' ? value + 1 : `${String(value)}x`);

describe('an audit row', () => {
  test('has a different hash if text changes columns', () => {
    const moved = { ...ROW, actor_kind: 'ke', actor_id: `y${ROW.actor_id ?? ''}` };
    const hashes = [ROW, moved, { ...ROW, actor_id: null }, { ...ROW, actor_id: '' }].map(hashRow);
    expect(new Set(hashes).size).toBe(4);
  });
});

describe('an audit seal', () => {
  const keys = new SealKeys([]);
  test.each(Object.entries(FACTS).filter(([name]) => name !== 'key_id'))(
    'has a different hash if its %s differs',
    (name, value) => {
      expect(keys.computeHash({ ...FACTS, [name]: alter(value) }, 'p')).not.toBe(
        keys.computeHash(FACTS, 'p'),
      );
    },
  );
  test('has a different hash if the previous seal differs', () => {
    expect(keys.computeHash(FACTS, 'q')).not.toBe(keys.computeHash(FACTS, 'p'));
  });
  test('has a different hash for each key', () => {
    const both = new SealKeys(KEYS);
    const [first, second] = KEYS.map((key) => new SealKeys([key]).current);
    expect(both.current).toBe(first);
    const known = [first, second, '', '00000000'].filter((name = '') => both.hasKey(name));
    expect(known).toEqual([first, second, '']);
    const hashes = ['', first, second].map((key_id = '') => both.computeHash({ ...FACTS, key_id }, 'p'));
    expect(new Set(hashes).size).toBe(3);
    expect(() => keys.computeHash({ ...FACTS, key_id: first ?? '' }, 'p')).toThrow();
  });
  test('cannot be computed without the key', () => {
    const [own, others] = KEYS.map((key) => new SealKeys([key]));
    const facts = { ...FACTS, key_id: own?.current ?? '' };
    expect(own?.computeHash(facts, 'p')).not.toBe(keys.computeHash({ ...FACTS, key_id: '' }, 'p'));
    // The hash is keyed and cannot be computed from the columns of the table.
    const { number, ...columns } = facts;
    const text = JSON.stringify(['rollcall audit seal', 2, number, 'p', ...Object.values(columns)]);
    expect(own?.computeHash(facts, 'p')).not.toBe(createHash('sha256').update(text).digest('hex'));
    expect(others?.hasKey(own?.current ?? '')).toBe(false);
  });
});
