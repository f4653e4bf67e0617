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

const other = (value: unknown) => (typeof value === 'number' ? value + 1 : `${String(value)}x`);

describe('a row', () => {
  test('has another hash where a part of one column is in the next, and without an actor', () => {
    const moved = { ...ROW, actor_kind: 'ke', actor_id: `y${ROW.actor_id ?? ''}` };
    const hashes = [ROW, moved, { ...ROW, actor_id: null }, { ...ROW, actor_id: '' }].map(hashRow);
    expect(new Set(hashes).size).toBe(4);
  });
});

describe('a seal', () => {
  const keys = new SealKeys([]);
  test.each(Object.entries(FACTS).filter(([name]) => name !== 'key_id'))(
    'has another hash with another %s',
    (name, value) => {
      expect(keys.computeHash({ ...FACTS, [name]: other(value) }, 'p')).not.toBe(
        keys.computeHash(FACTS, 'p'),
      );
    },
  );
  test('has another hash behind another seal', () => {
    expect(keys.computeHash(FACTS, 'q')).not.toBe(keys.computeHash(FACTS, 'p'));
  });
  test('is made with the first key; the others are known, and each has a hash of its own', () => {
    const both = new SealKeys(KEYS);
    const [first, second] = KEYS.map((key) => new SealKeys([key]).current);
    expect(both.current).toBe(first);
    expect([first, second, '', '00000000'].map((name) => both.hasKey(name ?? ''))).toEqual([
      true,
      true,
      true,
      false,
    ]);
    const hashes = ['', first, second].map((key_id = '') => both.computeHash({ ...FACTS, key_id }, 'p'));
    expect(new Set(hashes).size).toBe(3);
    expect(() => keys.computeHash({ ...FACTS, key_id: first ?? '' }, 'p')).toThrow();
  });
  test('cannot be made with the name of a key alone', () => {
    const [mine, others] = KEYS.map((key) => new SealKeys([key]));
    const facts = { ...FACTS, key_id: mine?.current ?? '' };
    expect(mine?.computeHash(facts, 'p')).not.toBe(keys.computeHash({ ...FACTS, key_id: '' }, 'p'));
    // A keyed hash: nobody gets it from what the table has.
    const text = [
      'rollcall audit seal',
      2,
      ...Object.values({ number: 7, previous: 'p', ...without(facts) }),
    ];
    expect(mine?.computeHash(facts, 'p')).not.toBe(
      createHash('sha256').update(JSON.stringify(text)).digest('hex'),
    );
    expect(others?.hasKey(mine?.current ?? '')).toBe(false);
  });
});

const without = ({ number: _, ...facts }: SealFacts) => facts;
