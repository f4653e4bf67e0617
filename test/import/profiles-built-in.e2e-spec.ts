import { describe, expect, test } from '@jest/globals';
import { setUpApp } from '../support/app/app.js';
import { countsOf, runImport, findUser } from '../support/app/imports.js';
import { readSample } from '../support/app/profiles.js';

/** Exports of well-known services, each imported with its built-in profile. */
const app = setUpApp();

/** Expected fields of the users of each sample, by service and ExternalId. */
const EXPECTED: Record<string, Record<string, object>> = {
  moodle: {
    'ada.king': {
      username: 'ada.king',
      email: 'ada.king@example.org',
      firstname: 'Ada',
      surname: 'King',
      phone: '+44 20 7946 0101',
      mobile: '+44 7700 900101',
      status: 'Active',
    },
    'joao.silva': { firstname: 'João', surname: 'Silva', phone: '', status: 'Active' },
    'mei.tanaka': { firstname: '芽衣', surname: '田中', status: 'Blocked' }, // suspended
    'old.account': { status: 'Blocked' }, // auth nologin
    'gone.student': { status: 'Blocked' }, // deleted
  },
  canvas: {
    'SIS-3001': {
      username: 'zoe.adams',
      firstname: 'Zoë',
      surname: 'Adams',
      known_as: 'Zoë',
      status: 'Active',
    },
    'SIS-3002': { username: 'ben.obrien', surname: "O'Brien", status: 'Blocked' },
    'SIS-3003': { username: 'cleo.ng', known_as: 'CJ', status: 'Blocked' },
  },
  google: {
    'grace.hill@example.org': {
      username: 'grace.hill@example.org',
      firstname: 'Grace',
      surname: 'Hill',
      phone: '+44 20 7946 0201',
      mobile: '+447700900201',
      status: 'Active',
    },
    'noor.haddad@example.org': { email: 'Noor.Haddad@example.org', firstname: 'Noor, Dr.', status: 'Active' },
    'emil.sorensen@example.org': { surname: 'Sørensen', status: 'Blocked' },
  },
  microsoft365: {
    '96ca293c-29dd-4668-a763-000000000301': {
      username: 'adele.price@example.org',
      email: 'adele.price@example.org',
      firstname: 'Adele',
      phone: '+44 20 7946 0301',
      mobile: '+44 7700 900301',
      status: 'Active',
    },
    '96ca293c-29dd-4668-a763-000000000302': { firstname: 'Björn', status: 'Blocked' },
    '96ca293c-29dd-4668-a763-000000000303': { email: 'lidia_partner.example#EXT#@tenant.example.org' },
  },
  entra: {
    '7cc0c81b-f2a2-489a-8243-000000000401': {
      username: 'ida.falk@tenant.example.org',
      email: 'ida.falk@example.org',
      phone: '+44 20 7946 0401',
      mobile: '+44 7700 900401',
      status: 'Active',
    },
    '7cc0c81b-f2a2-489a-8243-000000000402': { email: 'scanner@tenant.example.org', firstname: '' },
    '7cc0c81b-f2a2-489a-8243-000000000403': { email: 'pat@partner.example', firstname: 'Pat' },
    '7cc0c81b-f2a2-489a-8243-000000000404': { status: 'Blocked' },
  },
  okta: {
    '00u1abcd2EFGH3ijk501': {
      username: 'rosa.marin@example.org',
      surname: 'Marín',
      known_as: 'Ro',
      phone: '+44 20 7946 0501',
      mobile: '+44 7700 900501',
      status: 'Active',
    },
    '00u1abcd2EFGH3ijk502': { status: 'Active' }, // PROVISIONED
    '00u1abcd2EFGH3ijk503': { status: 'Active' }, // LOCKED_OUT
    '00u1abcd2EFGH3ijk504': { status: 'Blocked' }, // SUSPENDED
    '00u1abcd2EFGH3ijk505': { status: 'Blocked' }, // DEPROVISIONED
  },
  auth0: {
    'auth0|5f7c8ec7c33c6c004bbafe01': {
      username: 'yusuf.demir@example.org',
      email: 'yusuf.demir@example.org',
      firstname: 'Yusuf',
      surname: 'Demir',
      known_as: 'yusuf',
      phone: '+447700900601',
      status: 'Active',
    },
    'auth0|5f7c8ec7c33c6c004bbafe02': { firstname: 'Ann "AJ"', surname: "O'Neil", status: 'Blocked' },
    'google-oauth2|103547991597142817347': { firstname: '', known_as: 'wei', status: 'Active' },
  },
  oneroster: {
    'or-701': {
      username: 'nora.lind',
      email: 'nora.lind@example.org',
      middle_name: 'Maria',
      phone: '+44 20 7946 0701',
      mobile: '+44 7700 900701',
      status: 'Active',
    },
    'or-702': { firstname: 'Omar', surname: 'Aziz', status: 'Active' },
    'or-703': { username: 'pia.weiß', status: 'Blocked' }, // enabledUser is false
    'or-704': { status: 'Blocked' }, // status is tobedeleted
  },
};

describe.each(Object.entries(EXPECTED))('the built-in import profile %s', (name, users) => {
  test('imports its sample export', async () => {
    const rows = Object.keys(users).length;
    const run = await runImport(app.key, readSample(name), `profile=${name}`);
    expect([run.problems, run.state, countsOf(run)]).toEqual([[], 'completed', { created: rows }]);
    expect({
      profile: run.profile,
      dataset: run.options.dataset,
      ignore_unknown_columns: run.options.ignore_unknown_columns,
    }).toEqual({ profile: name, dataset: name, ignore_unknown_columns: true });
    for (const [externalId, fields] of Object.entries(users))
      expect(await findUser(app.key, externalId)).toMatchObject({ external_id: externalId, ...fields });
    const again = await runImport(app.key, readSample(name), `profile=${name}`);
    expect(countsOf(again)).toEqual({ unchanged: rows });
  });
});

test('the built-in import profile google finds managers by their e-mail', async () => {
  const boss = await findUser(app.key, 'grace.hill@example.org');
  for (const id of ['noor.haddad@example.org', 'emil.sorensen@example.org'])
    expect((await findUser(app.key, id)).manager_uuid).toBe(boss.uuid);
});
