import { expect, test } from '@jest/globals';
import { readInput } from '../../src/platform/input/read-input.js';
import { ChangedUserInput } from '../../src/users/rules/user.input.js';
import { pickSelfFields } from '../../src/users/accepted-fields.js';

const shown = { username: 'kim', status: 'Active', roles: ['Editor'], phone: '1', manager_uuid: null };

test('unchanged values in fields that users cannot change are ignored', () => {
  const sent = readInput(ChangedUserInput, {
    username: 'kim',
    status: 'Active',
    roles: ['Editor'],
    manager_uuid: null,
    phone: '2',
    hide_email: true,
  }).value;
  expect(Object.keys(pickSelfFields(sent, shown))).toEqual(['phone', 'hide_email']);
});
