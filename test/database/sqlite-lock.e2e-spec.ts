import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { DatabaseSync } from 'node:sqlite';
import { describeOnSqlite } from '../support/app/database.js';
import { TestApp } from '../support/app/app.js';
import { speedUp } from '../support/app/clock.js';
import { aUser } from '../support/data/factories.js';

/** Another program, such as the command line, writes to the SQLite file. */

describeOnSqlite('on SQLite', () => {
  let app: TestApp;
  let other: DatabaseSync;
  beforeEach(async () => {
    app = await TestApp.start();
    other = new DatabaseSync(app.database.url.slice('sqlite:'.length));
    other.exec('BEGIN IMMEDIATE');
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    other.close();
    await app.end();
  });

  test('only writes wait while another program holds the write lock', async () => {
    const created = Promise.all([app.key.post('/users', aUser()), app.key.post('/users', aUser())]);
    let settled = false;
    void created.then(() => (settled = true));
    // Many more reads than fit into the pause between two attempts.
    for (let i = 0; i < 50; i++) expect((await app.key.get('/users/search?limit=1')).body.Count).toBe(1);
    expect(settled).toBe(false);
    other.exec('COMMIT');
    expect((await created).map(({ status }) => status)).toEqual([201, 201]);
    expect((await app.key.get('/users/search?limit=1')).body.Count).toBe(3);
  });

  test('a write returns 503 after a long wait for the lock', async () => {
    speedUp();
    const blocked = await app.key.post('/users', aUser());
    expect([blocked.status, blocked.body.code]).toEqual([503, 'unavailable']);
    expect(blocked.headers['retry-after']).toBe('1');
    expect(blocked.text).not.toMatch(/ECONN|sqlite|mysql|mariadb|pool/i);
    other.exec('ROLLBACK');
    expect((await app.key.get('/users/search?limit=1')).body.Count).toBe(1);
    expect((await app.key.post('/users', aUser())).status).toBe(201);
  });
});
