import { expect, test } from '@jest/globals';
import { BASE, HOME, WORK, patched } from './patched.js';

test('a new primary takes the mark from the old one that follows it in the list', () => {
  const { after } = patched([
    { op: 'replace', path: 'emails', value: [HOME, WORK] },
    { op: 'replace', path: 'emails[type eq "home"].primary', value: true },
  ]);
  expect(after).toEqual({
    ...BASE,
    emails: [
      { ...HOME, primary: true },
      { value: WORK.value, type: WORK.type },
    ],
  });
});
