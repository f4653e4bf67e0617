import { expect, test } from '@jest/globals';
import { ChangedUserInput } from '../../src/users/user.input.js';
import { keepSelfFields } from '../../src/users/user.permissions.js';

const shown = { username: 'kim', status: 'Active', roles: ['Editor'], phone: '1', manager_uuid: null };

test('values that were sent back are accepted and not written: by then they may be old', () => {
  const sent = Object.assign(new ChangedUserInput(), {
    username: 'kim',
    status: 'Active',
    roles: ['Editor'],
    manager_uuid: null,
    phone: '2',
    hide_email: true,
  });
  keepSelfFields(sent, shown);
  expect(Object.keys(sent)).toEqual(['phone', 'hide_email']);
});

test('any other value of such a field is refused by name, and a field that was not shown always', () => {
  const sent = Object.assign(new ChangedUserInput(), { status: 'Blocked', authname: null, phone: '2' });
  expect(() => {
    keepSelfFields(sent, shown);
  }).toThrow('Only a Webmaster may change: status, authname.');
});
