import { describe, expect, test } from '@jest/globals';
import { createEmptyUser } from '../../src/users/rules/user-rules.js';
import { toWordRows, splitWords } from '../../src/users/model/user.js';

/** `search-words` tests the words of texts and search terms. */
describe('user search words', () => {
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
  const wordsFor = (overrides: Partial<typeof user> = {}) =>
    new Map(toWordRows({ ...user, ...overrides }).map((row) => [row.word, row]));

  test('come from names, username, email and external id', () => {
    const names = ['jane', 'mary', 'smith-doe', 'smith', 'doe', 'janey'];
    const identifiers = ['jdoe', 'jane.d', 'jane.d@example.org', 'hr-1'];
    expect([...wordsFor().keys()].sort()).toEqual([...names, ...identifiers].sort());
  });

  test('rank a repeated word by the most important field', () => {
    const rows = toWordRows({ ...user, username: 'jane', external_id: 'jane' }).filter(
      ({ word }) => word === 'jane',
    );
    expect(rows).toHaveLength(1);
    expect(rows[0]?.weight).toBe(wordsFor().get('jane')?.weight);
  });

  test('rank names first, then usernames, then external ids', () => {
    const weightOf = (word: string) => wordsFor().get(word)?.weight ?? 0;
    expect(weightOf('jane')).toBeGreaterThan(weightOf('jdoe'));
    expect(weightOf('jdoe')).toBeGreaterThan(weightOf('hr-1'));
    expect(weightOf('hr-1')).toBeGreaterThan(0);
  });

  test('exclude a hidden email if a member searches', () => {
    for (const word of ['jane.d', 'jane.d@example.org']) {
      expect(wordsFor({ hide_email: true }).get(word)).toMatchObject({ weight: 2, public_weight: 0 });
      expect(wordsFor().get(word)?.public_weight).toBe(2);
    }
    expect(wordsFor({ hide_email: true, email: 'jane@example.org' }).get('jane')?.public_weight).toBe(4);
  });
});

test('a long search word is truncated after a whole character', () => {
  const [word = ''] = splitWords('𐐨'.repeat(300));
  expect(word.isWellFormed()).toBe(true);
  expect(Array.from(word)).toHaveLength(255);
});
