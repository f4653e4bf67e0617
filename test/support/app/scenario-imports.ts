import { Readable } from 'node:stream';
import { now } from '../../../src/platform/common/time.js';
import { ImportRunsRepository } from '../../../src/import/runs/import-runs.repository.js';
import { FileStore } from '../../../src/import/file/file-store.js';
import type { TestApp } from './app.js';
import type { Client } from './client.js';
import { UNKNOWN, create } from '../data/factories.js';
import { awaitRun, csv, findUser, rowsOf, runImport } from './imports.js';
import { databaseOf } from './people.js';
import { check } from './scenario.js';
import { seededUuid } from './seed.js';
import { BIG_RUN, buildList } from './seed-history.js';

const HEAD = 'ExternalId,Username,Email,Phone,Manager,Authname,Roles,Status';
const toRow = (name: string, manager = '', phone = '1') =>
  `${name},${name},${name}@example.org,${phone},${manager},,,`;

/** Runs imports of every kind, from the upload to the revert. */
export async function exerciseImports(app: TestApp): Promise<void> {
  const { key } = app;
  const rows = (phone: string) =>
    buildList(60, (i) => toRow(`p${i}`, i > 0 ? `p${Math.floor(i / 5)}` : '', phone));
  const first = await runImport(key, csv(HEAD, ...rows('1')), 'dataset=people');
  const change = csv(
    HEAD,
    'p1,p2,p1@example.org,,,,,',
    'p2,p1,p2@example.org,,,,,',
    ...rows('2').slice(10),
    toRow('new'),
    toRow('b@d', 'nobody'),
    'e,,,,,,,',
    toRow('HR-0000100'),
  );
  const planned = await runImport(key, change, 'dataset=people&missing=report&dry_run=true');
  await check(key.post(`/imports/${planned.id}/apply`), 202);
  await awaitRun(key, planned.id);
  const parked = await runImport(key, csv(HEAD, toRow('p1')), 'dataset=people&missing=block');
  await check(key.post(`/imports/${parked.id}/reject`), 202);
  const stopped = await runImport(key, csv(HEAD, toRow('p1')), 'dry_run=true');
  await check(key.post(`/imports/${stopped.id}/cancel`), 202);
  const again = await runImport(key, csv(HEAD, toRow('p1')), 'dataset=people&missing=block');
  await check((await app.login()).post(`/imports/${again.id}/apply`), 202); // by a user, whom the import must not block
  await awaitRun(key, again.id);
  await changeManyUsers(app);
  await awaitRun(key, (await check(key.post(`/imports/${first.id}/revert`), 202)).body.id);
  await adoptUsers(key);
  await cancelImport(app);
  await discardUpload(app);
  await readRuns(key, planned.id);
  await exerciseProfiles(key);
  await app.app.get(ImportRunsRepository).listWithoutAlert(now(), 20); // the query of the alerts
}

async function exerciseProfiles(key: Client): Promise<void> {
  const save = (dataset: string) =>
    key.put('/import_profiles/nightly', { dataset, columns: { Key: 'ExternalId' } });
  await check(save('people'));
  await check(save('others'));
  await runImport(key, csv('Key,Username,Email', 'n1,n1,n1@example.org'), 'profile=nightly');
  await check(
    key.put('/import_profiles/nightly', {
      columns: { Key: 'ExternalId', Email: 'Email', Boss: 'Manager' },
      set: { Username: '{Key:unique}' },
      manager_key: 'Email',
    }),
  );
  const boss = ['n2,n2@example.org,', 'n3,n3@example.org,n2@example.org'];
  await runImport(key, csv('Key,Email,Boss', ...boss), 'profile=nightly');
  await check(key.get('/import_profiles?limit=1&offset=1'));
  const sample = csv('Key,Username', 'n1,n1');
  await check(key.send('POST', '/imports/preview?profile=nightly', sample, { 'content-type': 'text/csv' }));
  await check(key.get('/import_profiles/nightly'));
  await check(key.delete('/import_profiles/nightly'), 204);
}

/** Plans, applies and reverts the deletion of all users found by a search, and plans a deletion by UUID. */
async function changeManyUsers(app: TestApp): Promise<void> {
  const { key } = app;
  const start = async (selection: object): Promise<string> => {
    const body = { ...selection, change: { delete: true }, reason: 'test', dry_run: true };
    const { id } = (await check(key.post('/imports', body), 202)).body;
    return (await awaitRun(key, id)).id;
  };
  await start({ uuids: [UNKNOWN] });
  await create(key, { manager_uuid: (await findUser(key, 'p0')).uuid });
  const planned = await start({ where: { managed_by: 'people', has_external_id: true } });
  await check((await app.login()).post(`/imports/${planned}/apply`), 202);
  await awaitRun(key, planned);
  await awaitRun(key, (await check(key.post(`/imports/${planned}/revert`), 202)).body.id);
}

/** Imports rows of existing users: adopted, adopted without changes, and in conflict. */
async function adoptUsers(key: Client): Promise<void> {
  await create(key, { username: 'q1', email: 'q1@example.org' });
  await create(key, { username: 'q5', email: 'q5@example.org', external_id: 'q5' });
  await create(key, { username: 'q2', email: 'q2@example.org', external_id: 'q2' });
  const row = (name: string) => `${name},${name},${name}@example.org`;
  await runImport(
    key,
    csv('ExternalId,Username,Email', row('q1'), row('q2'), row('q5'), 'q3,q2,q3@example.org'),
    'adopt=email',
  );
}

/** Cancels an import that is being applied, and imports a file that is refused after a part was planned. */
async function cancelImport(app: TestApp): Promise<void> {
  const { id } = await runImport(app.key, csv(HEAD, ...buildList(60, (i) => toRow(`c${i}`))), 'dry_run=true');
  // The state that another instance would have left.
  await databaseOf(app).execute("UPDATE import_runs SET state = 'applying', cancel = 1 WHERE id = ?", [id]);
  await awaitRun(app.key, id);
  await runImport(app.key, csv(HEAD, ...buildList(600, (i) => toRow(`f${i}`)), '"unclosed'));
}

/** Discards a stored file, as after an error in its options. */
async function discardUpload({ app }: TestApp): Promise<void> {
  const store = app.get(FileStore);
  const stored = await store.store('discarded.csv', Readable.from([Buffer.from(HEAD)]));
  await store.discard(stored.runId);
}

async function readRuns(key: Client, id: string): Promise<void> {
  await check(key.get('/imports?limit=5&offset=1'));
  await check(key.get('/imports?state=completed&state=failed&dataset=people'));
  await check(key.get('/imports?dataset=people'));
  await check(
    key.get(`/imports?profile=nightly&actor=${UNKNOWN}&created_since=2026-01-01&created_until=2036-01-01`),
  );
  await check(key.get('/imports/schedule'));
  const form = `--x\r\nContent-Disposition: form-data; name="file"; filename="x.csv"\r\n\r\n${HEAD}\r\n--x--\r\n`;
  const type = { 'content-type': 'multipart/form-data; boundary=x' };
  await check(key.send('POST', '/imports/schedule/files', form, type), 201);
  await check(key.post('/imports/scheduled'));
  for (const run of [id, BIG_RUN]) {
    await check(key.get(`/imports/${run}`));
    await check(key.get(`/imports/${run}/failed.csv`));
    for (const query of [
      'limit=5&offset=2',
      'limit=5&after=7',
      'outcome=created&limit=100&after=100',
      'outcome=error',
      'outcome=error&outcome=missing',
      'code=invalid_format',
      'external_id=p1&external_id=p7&external_id=nobody',
      'external_id=p1&outcome=error&code=invalid_format&after=1',
    ])
      await rowsOf(key, run, query);
  }
  await check(key.get('/imports/template.csv'));
  await check(key.get('/users/export.csv'));
  await check(key.get('/users/export.csv?all=true'));
  await check(key.get(`/users/export.csv?all=true&uuid=${seededUuid(1)}&uuid=${UNKNOWN}`));
  const query =
    'role=Editor&status=Active&managed_by=default&fulltext_search=p1&external_id=p1&username=p1&email=p1&authname=saml:p1';
  const more = `manager_uuid=${UNKNOWN}&updated_since=2026-01-01T00:00:00Z&created_since=2026-01-01T00:00:00Z&has_external_id=true&email_domain=p1&phone=1234`;
  await check(key.get(`/users/export.csv?${query}&${more}&find=p1`));
}
