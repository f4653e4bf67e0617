import { expect, test } from '@jest/globals';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ConsolePage } from '../support/browser/console-page.js';
import { describeConsole } from '../support/browser/console-service.js';

const MARKUP = '<img src=x onerror=alert(1)>';

describeConsole('new imports in the console', (service) => {
  let page: ConsolePage;

  const writeFile = (name: string, lines: readonly string[]): string => {
    const path = join(service.folder, name);
    writeFileSync(path, `${lines.join('\n')}\n`);
    return path;
  };
  const buildPayroll = (domain: string): string[] => [
    'No;Given name;Family name;Mail;Login;Salary',
    ...['Ada', 'Bela', 'Cleo', 'Dora', 'Emil'].map(
      (name, n) => `P-${n};${name};Of ${name};${name.toLowerCase()}@${domain};${name.toLowerCase()};5200`,
    ),
  ];
  const choose = (...paths: string[]) => page.page.setInputFiles('input[type=file]', paths);
  const getColumn = (source: string) => page.page.getByLabel(`Import ${source} as`, { exact: true });
  const section = (title: string) =>
    page.page.locator('summary', { has: page.page.getByText(title, { exact: true }) });
  const problems = () => page.page.getByRole('region', { name: 'Problems' });
  const plan = () => page.button('Create plan');
  const readyText = /^No users are changed until/;

  test('the new-import page maps columns, saves a profile and creates a plan', async () => {
    page = await service.openAsAdmin('/console/imports/new');
    await choose(writeFile('payroll.csv', buildPayroll('example.org')));
    await page.waitForText(readyText);
    await page.waitForText(/Encoding utf-8, delimiter semicolon/);
    await section('Columns').click();
    // The columns that the service suggests are preselected.
    const suggested = { 'Given name': 'ForeName', 'Family name': 'Surname', Mail: 'Email', Salary: 'ignore' };
    for (const [source, column] of Object.entries(suggested))
      expect([source, await getColumn(source).inputValue()]).toEqual([source, column]);
    await getColumn('No').selectOption('ExternalId');
    await getColumn('Login').selectOption('Username');
    await page.field('Also import Given name as').selectOption('KnownAs');
    await page.waitForText('First values: Ada, Bela, Cleo, Dora, Emil');
    await section('First rows').click();
    const cells = ['2', 'Created', 'ada@example.org'];
    expect((await page.readRows('First rows'))[0]).toEqual(expect.arrayContaining(cells));
    expect(await page.findViolations()).toEqual([]);
    await plan().click();
    await page.waitForTitle(/^payroll\.csv/);
    await page.page.locator('h1', { hasText: 'Planned' }).waitFor();
    expect((await service.key.get('/users/search?managed_by=payroll')).body.Count).toBe(0);
    await page.button('Apply the plan').click();
    await page.waitForText(/^5 users will be created\. /);
    await page.dialog.getByRole('button', { name: 'Apply' }).click();
    await page.page.locator('h1', { hasText: 'Completed' }).waitFor();
    expect((await service.key.get('/users/search?managed_by=payroll')).body.Count).toBe(5);
  });

  test('the new-import page shows row errors of a dropped file', async () => {
    const columns = { No: 'ExternalId', Mail: 'Email', Login: 'Username' };
    await service.key.put('/import_profiles/dropped', { dataset: 'dropped', columns });
    page = await service.openAsAdmin('/console/imports/new?profile=dropped');
    await page.waitForTitle('New import');
    const transfer = await page.page.evaluateHandle(
      ([name, text]) => {
        const browser = globalThis as unknown as {
          DataTransfer: new () => { items: { add(file: unknown): void } };
          File: new (parts: string[], name: string) => unknown;
        };
        const data = new browser.DataTransfer();
        data.items.add(new browser.File([text ?? ''], name ?? ''));
        return data;
      },
      [`${MARKUP}\u202e.csv`, `No,Mail,Login\nD-1,no address,${MARKUP}\n`],
    );
    await page.page.dispatchEvent('.drop', 'drop', { dataTransfer: transfer });
    await page.waitForText(`${MARKUP}\ufffd.csv`);
    await problems().waitFor();
    const problem = ['E-mail must be an e-mail address', '2', 'no address'];
    expect(await page.readRows('Problems')).toEqual([problem]);
    expect((await page.readRows('First rows'))[0]).toContain(MARKUP.toLowerCase());
    await page.waitForText(readyText);
  });

  test('the new-import page offers encodings and shows why a file is refused', async () => {
    page = await service.openAsAdmin('/console/imports/new');
    await choose(writeFile('empty.csv', ['']));
    await problems().getByText('Prevents the import').waitFor();
    expect(await plan().isDisabled()).toBe(true);
    const umlauts = join(service.folder, 'staff.csv');
    writeFileSync(umlauts, 'Nr;Vorname;Nachname;E-Mail\n1;J\xf6rg;M\xfcller;jm@example.org\n', 'latin1');
    await choose(umlauts);
    await page.waitForText('The file is not UTF-8.');
    await page.page.getByRole('button', { name: /^Read as windows-1252/ }).click();
    await page.waitForText(readyText);
    await section('People').click();
    await page.button('Remove the template of Username').click();
    await page.waitForText('No column is the username. Choose a template under People.');
    // A template starts with the column that it replaces, which fills the field again without the template.
    await page.button('Build Email from pieces').click();
    expect(await page.field('Template of Email').inputValue()).toBe('{E-Mail}');
    await page.button('Remove the template of Email').click();
    await page.page.getByText('From the column E-Mail').waitFor({ state: 'attached' });
    await page.page.getByRole('button', { name: /^\{Vorname:ascii:lower\}\.\{Nachname/ }).click();
    await page.waitForText('First values: jorg.muller');
    await page.page.getByText('Edit the template of Username').click();
    const functions = page.page.getByRole('group', { name: 'Functions for Vorname' });
    await functions.getByRole('button', { name: 'german' }).click();
    await page.waitForText('First values: joerg.muller');
    await page.button('Add a fallback for blank cells').last().click();
    expect(await page.field('Template of Username').inputValue()).toMatch(
      /:lower\} \|\| \{E-Mail:lower:unique\}$/,
    );
    await page.field('Add a column to Username').selectOption('Nr');
    expect(await page.field('Template of Username').inputValue()).toMatch(/\{E-Mail:lower\}\{Nr:unique\}$/);
  });

  test('the new-import page offers a fallback for rows without an e-mail address', async () => {
    page = await service.openAsAdmin('/console/imports/new');
    const rows = Array.from({ length: 9 }, (_, n) => `S-${n};Lee;${n < 2 ? '' : `s${n}@example.org`};s${n}`);
    await choose(writeFile('pupils.csv', ['ExternalId;Surname;E-Mail;Username', ...rows]));
    await page.waitForText('No e-mail address in 2 of the first 9 rows.');
    await page.button('Build a value for blank cells').click();
    await page.waitForText('First values: S-0@no-mail.example, S-1@no-mail.example, s2@example.org');
    await page.button('“@no-mail.example”').click();
    await page.field('Text between the columns').fill('||@x|');
    await page.button('Add a fallback for blank cells').click();
    const template = '{E-Mail} || {ExternalId}\\|\\|@x\\| || {ExternalId}@no-mail.example';
    expect(await page.field('Template of Email').inputValue()).toBe(template);
    await choose(writeFile('ids.csv', ['ExternalId;Surname', 'K-1;Lee']));
    await page.button('Build Email from the external ID').click();
    await page.waitForText('First values: K-1@no-mail.example');
    await page.waitForText('All users get invented e-mail addresses.');
  });

  test('the new-import page plans several files, each with the same profile', async () => {
    page = await service.openAsAdmin('/console/imports/new');
    const lines = (id: number) => ['No,Mail,Login', `D-${id},d${id}@example.org,d${id}`];
    await choose(writeFile('first.csv', lines(1)), writeFile('second.csv', lines(2)));
    await section('Profile').click();
    await page.field('Profile').selectOption('dropped');
    await section('Profile').click();
    await page.button('Use this choice for all files').click();
    await page.button('Create 2 plans').click();
    await page.page.getByRole('link', { name: 'Planned' }).nth(1).waitFor();
    expect((await page.readRows('Files')).map(([, profile]) => profile)).toEqual(['dropped', 'dropped']);
  });

  test('the new-import page reads the next file with the profile whose pattern matches its name', async () => {
    page = await service.openAsAdmin('/console/imports/new');
    const rows = ['King, Ada', 'Chen, Bo', 'Søby, Zoë', 'Ode, Dan', 'Moss, Eve', 'Hall, Finn'].map(
      (name, n) => `${name};m${n}@example.org;${n % 3 ? 'active' : 'on leave'};1.2.2099;${n}`,
    );
    const lines = ['Members', '', 'Name, Vorname;E-Mail;Status;Austritt;Gehalt', ...rows];
    await choose(writeFile('Members 2026-27.csv', lines));
    await page.waitForText(readyText);
    await page.page.setViewportSize({ width: 1000, height: 720 });
    await page.takePicture('new-import');
    await page.field('Meaning of on leave in Status').selectOption('Active');
    await page.waitForText('Users who are missing from the next file keep their access.');
    await page.field('Users missing from the file').selectOption('report');
    await section('Columns').click();
    expect((await page.readRows('Columns of the file')).at(-1)?.slice(0, 2)).toEqual(['Gehalt', '0, 1, 2']);
    await page.field('Active until').selectOption('Austritt');
    expect(await page.field('Date format').inputValue()).toBe('D.M.YYYY');
    await page.waitForText(/files Members \*\.csv/);
    await page.waitForText('The next file in the drop folder that matches Members *.csv');
    await plan().click();
    await page.page.locator('h1', { hasText: 'Planned' }).waitFor();
    await page.waitUntilLoaded();
    await page.takePicture('new-import-plan');
    const profileLink = page.page.getByRole('link', { name: 'members', exact: true });
    expect(await profileLink.getAttribute('href')).toBe('/console/profiles/members');
    await page.page.getByRole('link', { name: 'Group by field' }).click();
    await page.waitForText('6 Active');
    page = await service.openAsAdmin('/console/imports/new');
    const next = ['Members 2027-28.csv', 'MEMBERS 2028.CSV'].map((name) => writeFile(name, lines));
    await choose(...next, writeFile('Members.csv', lines));
    await page.waitForText(/^Members\.csv/);
    const profiles = async () => (await page.readRows('Files')).map(([, profile]) => profile);
    expect(await profiles()).toEqual(['members', 'members', 'none']);
    await section('Settings').click();
    await page.field('Users missing from the file').selectOption('block');
    await page.waitForText(/^Another file has the same data set/);
  });

  test('the profile page saves, copies, compares and loads a profile', async () => {
    page = await service.openAsAdmin('/console/profiles/dropped');
    await page.waitForText('No unsaved changes.');
    const rows = ['No,Mail,Login,State', 'D-1,d@example.org,d,A', 'D-2,e@example.org,e,A'];
    await choose(writeFile('sample.csv', rows));
    await getColumn('State').selectOption('Status');
    // A column that is mapped by hand gets the probable meanings of its words.
    await page.waitForText(/^1 word replaced/);
    expect(await page.field('Meaning of A in State').inputValue()).toBe('Active');
    await page.field('Another word in State').fill('Guest');
    await page.button('Add the word to State').click();
    await page.field('Meaning of Guest in State').selectOption('Blocked');
    await page.field('Users missing from the file').selectOption('block');
    await page.waitForText('Changed. Value in the profile: not set.');
    await page.button('Save').click();
    await page.waitForText('Profile dropped saved.');
    const { profile } = (await service.key.get('/import_profiles/dropped')).body;
    expect(profile).toMatchObject({ missing: 'block', values: { State: { A: 'Active', Guest: 'Blocked' } } });
    await page.page.getByRole('link', { name: 'Copy' }).click();
    await page.field('Name').fill('no name/at all');
    await page.button('Save').click();
    await page.page.getByRole('alert').waitFor();
    await choose(writeFile('copy.json', [JSON.stringify({ ...profile, missing: 'report' })]));
    await page.field('Name').fill('new');
    await page.button('Save').click();
    await page.waitForPath('/console/profiles/%6eew');
    await page.field('Compare with another profile').selectOption('dropped');
    const difference = ['Users missing from the file', 'Blocked', 'Listed'];
    expect(await page.readRows('Differences from dropped')).toEqual([difference]);
  });
});
