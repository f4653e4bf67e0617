import { expect, test } from '@jest/globals';
import { readInput } from '../../src/input/read-input.js';
import { ChangedUserInput } from '../../src/users/input/user.input.js';
import { keepSelfFields } from '../../src/users/self-fields.js';

const UUID = '00000000-0000-4000-8000-000000000001';
const shown = { username: 'kim', status: 'Active', roles: ['Editor'], phone: '1', manager_uuid: null };

test('values that were sent back are accepted and not written, as they may be outdated', () => {
  const sent = readInput(ChangedUserInput, {
    username: 'kim',
    status: 'Active',
    roles: ['Editor'],
    manager_uuid: null,
    phone: '2',
    hide_email: true,
  }).value;
  keepSelfFields(sent, shown);
  expect(Object.keys(sent)).toEqual(['phone', 'hide_email']);
});

test('the uuid stays, to be compared with that of the path', () => {
  const sent = readInput(ChangedUserInput, { uuid: UUID, status: 'Active' }).value;
  keepSelfFields(sent, shown);
  expect(sent).toEqual({ uuid: UUID });
});

test('any other value of such a field is refused by name, and a hidden field is always refused', () => {
  const sent = readInput(ChangedUserInput, { status: 'Blocked', authname: null, phone: '2' }).value;
  expect(() => {
    keepSelfFields(sent, shown);
  }).toThrow('Only a Webmaster may change: status, authname.');
});
