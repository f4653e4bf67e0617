import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { join } from 'node:path';
import { selfSigned } from '../support/process/certificate.js';
import { ENGINE, type TestDatabase, freshDatabase } from '../support/app/database.js';
import { TestApp } from '../support/app/app.js';
import { databaseOf } from '../support/app/people.js';
import { Process, newcomer } from '../support/process/process.js';

/** The certificate of the tests' own server; an instance of TEST_DATABASE_URL keeps it to itself. */
const ca = process.env['TEST_DATABASE_CA'];
const withServer = ENGINE === 'mariadb' && ca !== undefined ? describe : describe.skip;
jest.setTimeout(60_000);

withServer('an encrypted connection (needs a server with TLS: the tests\u2019 own MariaDB only)', () => {
  let database: TestDatabase;
  let named: string;
  beforeAll(async () => {
    database = await freshDatabase();
    named = database.url.replace('127.0.0.1', 'localhost');
  });
  afterAll(async () => {
    await Process.killAll();
    await database.drop();
  });
  const cipher = async (url: string, settings: Record<string, string>) => {
    const app = await TestApp.on({ ...database, url }, settings);
    const status = await databaseOf(app).query<{ Value: string }>("SHOW SESSION STATUS LIKE 'Ssl_cipher'");
    await app.stop();
    return status[0]?.Value;
  };
  const refused = async (url: string, file: string) => {
    const settings = { ...newcomer(database), DATABASE_URL: url, DATABASE_TLS_CA_FILE: file };
    const service = new Process('dist/main.js', settings);
    expect((await service.exit).code).toBe(1);
    expect(service.err).not.toMatch(/^\s+at /m);
    return service.err;
  };

  test('is used with the file of the settings, and without it is not', async () => {
    expect(await cipher(named, { DATABASE_TLS_CA_FILE: ca ?? '' })).toMatch(/^TLS_|GCM|CHACHA20/);
    expect(await cipher(named, {})).toBe('');
  });

  test('is refused to a server that the file does not certify', async () => {
    const stranger = selfSigned(database.folder, 'DNS:localhost', 'stranger-');
    expect(await refused(named, stranger.cert)).toMatch(/self-signed certificate/);
  });

  test('is refused to a server with another name', async () => {
    const elsewhere = database.url.replace('127.0.0.1', '127.1'); // a different name for the same address
    expect(await refused(elsewhere, ca ?? '')).toMatch(/does not match certificate's altnames/);
  });

  test('needs a name that can be compared, and a file that can be read', async () => {
    expect(await refused(database.url, ca ?? '')).toMatch(
      /DATABASE_TLS_CA_FILE needs host names in DATABASE_URL/,
    );
    const missing = join(database.folder, 'missing.pem');
    expect(await refused(named, missing)).toMatch(/DATABASE_TLS_CA_FILE names a file .*ENOENT/);
    const doctor = Process.command(['doctor'], {
      ...newcomer(database),
      DATABASE_URL: named,
      DATABASE_TLS_CA_FILE: missing,
    });
    expect((await doctor.exit).code).toBe(1);
    expect(doctor.out).toMatch(/^fail {2}database +DATABASE_TLS_CA_FILE names a file .*ENOENT/m);
  });
});
