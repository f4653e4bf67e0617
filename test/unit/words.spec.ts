import { describe, expect, test } from '@jest/globals';
import { createEmptyUser } from '../../src/users/rules/user-rules.js';
import { splitWords } from '../../src/platform/common/search-words.js';
import { toWordRows } from '../../src/users/model/user.js';

/** `search-words` tests the words of texts and search terms. */
describe('user search words', () => {
  const user = createEmptyUser('00000000-0000-4000-8000-000000000001', '2026-01-01 00:00:00.000');

  test('rank names first, then usernames, then external ids', () => {
    const fields = { username: 'login', external_id: 'number', surname: 'name' };
    const rows = toWordRows({ ...user, ...fields }).toReversed();
    const ranked = rows.toSorted((one, other) => other.weight - one.weight);
    expect(ranked.map(({ word }) => word)).toEqual(['name', 'login', 'number']);
  });

  test('rank a repeated word by the most important field', () => {
    const fields = { username: 'jane', email: 'jane@example.org', external_id: 'jane', surname: 'Jane' };
    const rows = toWordRows({ ...user, ...fields }).filter(({ word }) => word === 'jane');
    const [surname] = toWordRows({ ...user, surname: 'Jane' });
    expect(rows).toEqual([expect.objectContaining({ weight: surname?.weight })]);
  });
});

test('a long search word is truncated after a whole character', () => {
  const [word = ''] = splitWords('𐐨'.repeat(300));
  expect(word.isWellFormed()).toBe(true);
  expect(Array.from(word)).toHaveLength(255);
});
