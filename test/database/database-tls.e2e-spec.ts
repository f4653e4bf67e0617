import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { join } from 'node:path';
import { createCertificate } from '../support/process/certificate.js';
import { ENGINE, type TestDatabase, createDatabase } from '../support/app/database.js';
import { TestApp } from '../support/app/app.js';
import { databaseOf } from '../support/app/people.js';
import { Process, envOf } from '../support/process/process.js';

/** The certificate of the test server. It is unknown for a server from TEST_DATABASE_URL. */
const ca = process.env['TEST_DATABASE_CA'];
const withServer = ENGINE === 'mariadb' && ca !== undefined ? describe : describe.skip;

withServer('on MariaDB', () => {
  let database: TestDatabase;
  let named: string;
  beforeAll(async () => {
    database = await createDatabase();
    named = database.url.replace('127.0.0.1', 'localhost');
  });
  afterAll(async () => {
    await Process.killAll();
    await database.drop();
  });
  const readCipher = async (url: string, settings: Record<string, string>) => {
    const app = await TestApp.startOn({ ...database, url }, settings);
    const status = await databaseOf(app).query<{ Value: string }>("SHOW SESSION STATUS LIKE 'Ssl_cipher'");
    await app.stop();
    return status[0]?.Value;
  };
  const readRefusal = async (url: string, file: string) => {
    const settings = { ...envOf(database), DATABASE_URL: url, DATABASE_TLS_CA_FILE: file };
    const service = new Process('dist/main.js', settings);
    expect((await service.exit).code).toBe(1);
    expect(service.err).not.toMatch(/^\s+at /m);
    return service.err;
  };

  test('a database connection is encrypted only if DATABASE_TLS_CA_FILE is set', async () => {
    expect(await readCipher(named, { DATABASE_TLS_CA_FILE: ca ?? '' })).toMatch(/^TLS_|GCM|CHACHA20/);
    expect(await readCipher(named, {})).toBe('');
  });

  test('a database certificate from an unknown CA is refused', async () => {
    const unknown = createCertificate(database.folder, 'DNS:localhost', 'stranger-');
    expect(await readRefusal(named, unknown.cert)).toMatch(/self-signed certificate/);
  });

  test('a database certificate for another host name is refused', async () => {
    const elsewhere = database.url.replace('127.0.0.1', '127.1'); // a different name for the same address
    expect(await readRefusal(elsewhere, ca ?? '')).toMatch(/does not match certificate's altnames/);
  });

  test('database TLS needs a host name and a readable CA file', async () => {
    expect(await readRefusal(database.url, ca ?? '')).toMatch(
      /DATABASE_TLS_CA_FILE needs host names in DATABASE_URL/,
    );
    const missing = join(database.folder, 'missing.pem');
    expect(await readRefusal(named, missing)).toMatch(/DATABASE_TLS_CA_FILE: .*ENOENT/);
    const doctor = Process.startCommand(['doctor'], {
      ...envOf(database),
      DATABASE_URL: named,
      DATABASE_TLS_CA_FILE: missing,
    });
    expect((await doctor.exit).code).toBe(1);
    expect(doctor.out).toMatch(/^fail {2}database +DATABASE_TLS_CA_FILE: .*ENOENT/m);
  });
});
