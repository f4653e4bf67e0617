import { afterEach, expect, jest, test } from '@jest/globals';
import { API_KEY } from '../support/app/app.js';
import { Client } from '../support/app/client.js';
import { type TestDatabase, freshDatabase } from '../support/app/database.js';
import { counted, csv, linked, settled, upload } from '../support/app/imports.js';
import { Process, newcomer } from '../support/process/process.js';

const ROWS = 3000;
let database: TestDatabase | undefined;
jest.setTimeout(120_000);
afterEach(async () => {
  await Process.killAll();
  await database?.drop();
});

test('a run that is killed goes on by the profile that it was made with, though that has changed', async () => {
  database = await freshDatabase();
  const settings = { ...newcomer(database), BOOTSTRAP_API_KEY: API_KEY };
  const start = async () => {
    const service = await Process.running(settings);
    return { service, client: new Client(service.url, { 'x-api-key': API_KEY }) };
  };
  const set = { Username: '{Key:lower}', Email: '{Key:lower}@example.org' };
  const first = await start();
  await first.client.put('/import_profiles/p', { columns: { Key: 'ExternalId', Name: 'ForeName' }, set });
  const rows = Array.from({ length: ROWS }, (_, at) => `K${at},name ${at}`);
  const { body } = await upload(first.client, csv('Key,Name', ...rows), 'profile=p');
  first.service.signal('SIGKILL');
  await first.service.exit;
  const second = await start();
  await second.client.put('/import_profiles/p', { columns: { Key: 'ExternalId', Name: 'Surname' }, set });
  const run = await settled(second.client, body.id);
  expect([run.state, run.profile, counted(run)]).toEqual(['completed', 'p', { created: ROWS }]);
  const user = await linked(second.client, `K${ROWS - 1}`);
  expect([user.username, user.firstname, user.surname]).toEqual([`k${ROWS - 1}`, `name ${ROWS - 1}`, '']);
  await second.service.stop();
});
