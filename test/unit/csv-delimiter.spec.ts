import { describe, expect, test } from '@jest/globals';
import { ByteSource, CHUNKINGS } from '../support/data/bytes.js';
import { readCsv } from '../support/data/csv.js';

describe.each(CHUNKINGS)('%s', (_, size) => {
  test.each<[string, string, string[]]>([
    ['comma', 'ExternalId,Username\n1,2\n', ['ExternalId', 'Username']],
    ['semicolon', 'ExternalId;Username\n1;2\n', ['ExternalId', 'Username']],
    ['tab', 'ExternalId\tUsername\n1\t2\n', ['ExternalId', 'Username']],
    ['bar', 'external id|USER-NAME\n1|2\n', ['external id', 'USER-NAME']],
    ['quoted names', '"ExternalId";"Username"\r\n1;2\r\n', ['ExternalId', 'Username']],
    [
      'a name with another delimiter',
      '"Email,x,y,z";ExternalId;Username\n1;2;3\n',
      ['Email,x,y,z', 'ExternalId', 'Username'],
    ],
    [
      'known names inside quotes do not count',
      '"Email,Phone,Status";ExternalId;Username\n1;2;3\n',
      ['Email,Phone,Status', 'ExternalId', 'Username'],
    ],
    [
      'a name with a line end',
      '"Note\nEmail,Phone,Status";ExternalId;Username\n1;2;3\n',
      ['Note\nEmail,Phone,Status', 'ExternalId', 'Username'],
    ],
    [
      'most known names, not most names',
      'x,y,z,ExternalId;Username;Email\n1;2;3\n',
      ['x,y,z,ExternalId', 'Username', 'Email'],
    ],
    ['rows do not count', 'ExternalId;Username\n"Email,Phone,Status,Mobile";2\n', ['ExternalId', 'Username']],
    ['a tie goes to the earlier', 'ExternalId;x,Username\n1,2\n', ['ExternalId;x', 'Username']],
    ['nothing known: comma', 'p;q,r\n1,2\n', ['p;q', 'r']],
    ['one column', 'ExternalId\n1\n', ['ExternalId']],
    ['empty lines first', '\n\nExternalId;Username\n1;2\n', ['ExternalId', 'Username']],
  ])('the delimiter is found: %s', async (_name, text, header) => {
    const result = await readCsv(new ByteSource(Buffer.from(text), size));
    expect([result.header, Object.keys(result.rows).length, result.error]).toEqual([header, 1, undefined]);
  });

  test.each([
    [';', 'ExternalId,Username;x\n1;2\n', ['ExternalId,Username', 'x']],
    ['\t', 'a\tb\n1\t2\n', ['a', 'b']],
    ['|', 'a|b\n1|2\n', ['a', 'b']],
  ])('the delimiter of the options is used: %j', async (delimiter, text, header) => {
    const result = await readCsv(new ByteSource(Buffer.from(text), size), { delimiter });
    expect([result.header, Object.keys(result.rows).length]).toEqual([header, 1]);
  });
});
