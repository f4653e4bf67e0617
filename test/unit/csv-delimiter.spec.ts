import { describe, expect, test } from '@jest/globals';
import { ByteSource, CHUNKINGS } from '../support/data/bytes.js';
import { readCsv } from '../support/data/csv.js';

describe.each(CHUNKINGS)('the CSV reader (%s)', (_, size) => {
  test.each<[string, string, string[]]>([
    ['comma', 'ExternalId,Username\n1,2\n', ['ExternalId', 'Username']],
    ['semicolon', 'ExternalId;Username\n1;2\n', ['ExternalId', 'Username']],
    ['tab', 'ExternalId\tUsername\n1\t2\n', ['ExternalId', 'Username']],
    ['vertical bar', 'external id|USER-NAME\n1|2\n', ['external id', 'USER-NAME']],
    ['quoted column names', '"ExternalId";"Username"\r\n1;2\r\n', ['ExternalId', 'Username']],
    [
      'known column names inside quotes are not counted',
      '"Email,Phone,Status";GUID;Role\n1;2;3\n',
      ['Email,Phone,Status', 'GUID', 'Role'],
    ],
    ['a line ending in a name', '"a\nEmail,Phone";GUID;Role\n1;2;3\n', ['a\nEmail,Phone', 'GUID', 'Role']],
    [
      'only known names are counted',
      'x,y,z,GUID;Username;Email\n1;2;3\n',
      ['x,y,z,GUID', 'Username', 'Email'],
    ],
    ['rows are ignored', 'ExternalId;Username\n"Email,Phone,Status,Mobile";2\n', ['ExternalId', 'Username']],
    ['the comma wins a tie', 'ExternalId;x,Username\n1,2\n', ['ExternalId;x', 'Username']],
    ['the comma without a known column', 'p;q,r\n1,2\n', ['p;q', 'r']],
    ['one column', 'ExternalId\n1\n', ['ExternalId']],
    ['empty lines before the header', '\n\nExternalId;Username\n1;2\n', ['ExternalId', 'Username']],
  ])('detects the delimiter: %s', async (_name, text, header) => {
    const result = await readCsv(new ByteSource(Buffer.from(text), size));
    expect([result.header, Object.keys(result.rows).length, result.error]).toEqual([header, 1, undefined]);
  });

  test.each([
    [';', 'ExternalId,Username;x\n1;2\n', ['ExternalId,Username', 'x']],
    ['\t', 'a\tb\n1\t2\n', ['a', 'b']],
  ])('uses the delimiter of the import options: %j', async (delimiter, text, header) => {
    const result = await readCsv(new ByteSource(Buffer.from(text), size), { delimiter });
    expect([result.header, Object.keys(result.rows).length]).toEqual([header, 1]);
  });
});
