import { describe, expect, test } from '@jest/globals';
import { createEmptyUser } from '../../src/users/rules/user-rules.js';
import { toWordRows, splitWords } from '../../src/users/model/user.js';

/** `search-words` tests how words are read from texts and terms. */
describe('a user is found', () => {
  const user = {
    ...createEmptyUser('00000000-0000-4000-8000-000000000001', '2026-01-01 00:00:00.000'),
    username: 'jdoe',
    email: 'jane.d@example.org',
    external_id: 'HR-1',
    firstname: 'Jane',
    middle_name: 'Mary',
    surname: 'Smith-Doe',
    known_as: 'Janey',
  };
  const words = (overrides: Partial<typeof user> = {}) =>
    new Map(toWordRows({ ...user, ...overrides }).map((row) => [row.word, row]));

  test('by the words and parts of its names, and by nothing else', () => {
    const names = ['jane', 'mary', 'smith-doe', 'smith', 'doe', 'janey'];
    const identifiers = ['jdoe', 'jane.d', 'jane.d@example.org', 'hr-1'];
    expect([...words().keys()].sort()).toEqual([...names, ...identifiers].sort());
  });

  test('by each word once, with the weight of the best field', () => {
    const rows = toWordRows({ ...user, username: 'jane', external_id: 'jane' }).filter(
      ({ word }) => word === 'jane',
    );
    expect(rows).toHaveLength(1);
    expect(rows[0]?.weight).toBe(words().get('jane')?.weight);
  });

  test('by name before by username before by external id', () => {
    const weight = (word: string) => words().get(word)?.weight ?? 0;
    expect(weight('jane')).toBeGreaterThan(weight('jdoe'));
    expect(weight('jdoe')).toBeGreaterThan(weight('hr-1'));
    expect(weight('hr-1')).toBeGreaterThan(0);
  });

  test('by a hidden e-mail address only by those who may read it', () => {
    for (const word of ['jane.d', 'jane.d@example.org']) {
      expect(words({ hide_email: true }).get(word)).toMatchObject({ weight: 2, public_weight: 0 });
      expect(words().get(word)?.public_weight).toBe(2);
    }
    expect(words({ hide_email: true, email: 'jane@example.org' }).get('jane')?.public_weight).toBe(4);
  });
});

test('a long word is cut between letters, not within one', () => {
  const [word = ''] = splitWords('𐐨'.repeat(300));
  expect(word.isWellFormed()).toBe(true);
  expect(Array.from(word)).toHaveLength(255);
});
