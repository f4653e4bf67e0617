import { expect, test } from '@jest/globals';
import { BASE, HOME, WORK, patch } from './patched.js';

test('a SCIM PATCH that makes an email primary clears primary on later emails', async () => {
  const { after } = await patch([
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
