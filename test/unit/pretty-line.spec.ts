import { expect, test } from '@jest/globals';
import { formatPrettyLine } from '../../src/platform/telemetry/log.js';

const AT = new Date(2026, 10, 23, 15, 4, 5, 67).toISOString();
const line = (fields: object): string => `${JSON.stringify(fields)}\n`;

const REQUEST = { level: 30, time: AT, method: 'GET', msg: 'request' };

test.each([
  [
    { ...REQUEST, request_id: 'r1', path: '/api/0.3/users/me', status: 200, ms: 1.2, ip: '::1' },
    '15:04:05.067 INFO  GET /api/0.3/users/me 200 1.2 ms  request_id=r1 ip=::1\n',
  ],
  [
    { ...REQUEST, request_id: 'r2', path: '/x', aborted: true, ms: 3 },
    '15:04:05.067 INFO  GET /x aborted 3 ms  request_id=r2\n',
  ],
  [{ level: 40, time: AT, msg: 'log lines lost', lines: 3 }, '15:04:05.067 WARN  log lines lost  lines=3\n'],
  [
    { level: 50, time: AT, code: 'internal', stack: ['f (a.js:1)', 'g (b.js:2)'], msg: 'fault' },
    '15:04:05.067 ERROR fault  code=internal\n    at f (a.js:1)\n    at g (b.js:2)\n',
  ],
  [
    { level: 30, time: AT, msg: 'import', counts: { created: 2 } },
    '15:04:05.067 INFO  import  counts={"created":2}\n',
  ],
  [{ level: 35, time: 'noon', msg: 'odd' }, 'noon 35    odd\n'],
])('the log event %j is printed as readable text', (event, text) => {
  expect(formatPrettyLine(line(event), false)).toBe(text);
});

test.each(['no JSON\n', '[1]\n', '\n'])('the log line %j without an event is printed unchanged', (text) => {
  expect(formatPrettyLine(text, true)).toBe(text);
});

test('a terminal log line for status 500 is red', () => {
  const failed = { ...REQUEST, path: '/', status: 500, ms: 1 };
  expect(formatPrettyLine(line(failed), true)).toContain('\u001b[31mINFO');
  expect(formatPrettyLine(line({ ...failed, status: 404 }), true)).toContain('\u001b[32mINFO');
});

test('hidden characters from a client are not printed in a log line', () => {
  const event = { ...REQUEST, path: '/\u001b[2J\n', status: 404, ms: 1, user: '\u001b[31m', file: '\u202e' };
  expect(formatPrettyLine(line(event), false)).not.toMatch(/[\p{Cc}\p{Cf}](?!$)/u);
});
