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
  const choose = (path: string) => page.page.setInputFiles('input[type=file]', path);
  const getColumn = (source: string) => page.page.getByLabel(`Import ${source} as`, { exact: true });
  const problems = () => page.page.getByRole('region', { name: 'Problems' });
  const plan = () => page.button('Create plan');

  test('the new-import page maps columns and creates a plan', async () => {
    page = await service.openAsAdmin('/console/imports/new');
    await page.field('Data set').fill('payroll');
    await choose(writeFile('payroll.csv', buildPayroll('example.org')));
    await page.waitForText(/Encoding utf-8, delimiter semicolon\./);
    await page.waitForText(/^The file would be rejected/);
    expect(await plan().isDisabled()).toBe(true);
    // The columns that the service suggests are preselected.
    for (const [source, column] of [
      ['Given name', 'ForeName'],
      ['Family name', 'Surname'],
      ['Mail', 'Email'],
    ] as const)
      expect([source, await getColumn(source).inputValue()]).toEqual([source, column]);
    await getColumn('No').selectOption('ExternalId');
    await getColumn('Login').selectOption('Username');
    expect(await getColumn('Salary').inputValue()).toBe('ignore');
    await page.button('Save profile and refresh preview').click();
    await page.waitForText('Profile payroll saved.');
    await page.page.getByText(/^The file would be rejected/).waitFor({ state: 'detached' });
    await page.waitForText(/Encoding utf-8, delimiter semicolon\.$/);
    await page.waitForPath('/console/imports/new?dataset=payroll&profile=payroll');
    expect((await page.readRows('First rows'))[0]).toEqual([
      '2',
      'Created',
      expect.stringContaining('ada@example.org'),
    ]);
    await plan().click();
    await page.waitForTitle(/^payroll\.csv/);
    await page.page.locator('h1', { hasText: 'Planned' }).waitFor();
    expect((await service.key.get('/users/search?managed_by=payroll')).body.Count).toBe(0);
    await page.button('Apply the plan').click();
    await page.waitForText(/^5 users will be created\. /);
    await page.dialog.getByRole('button', { name: 'Apply' }).click();
    await page.page.locator('h1', { hasText: 'Completed' }).waitFor();
    expect((await service.key.get('/users/search?managed_by=payroll')).body.Count).toBe(5);
    await page.button('Revert').click();
    await page.dialog.getByRole('button', { name: 'Revert' }).click();
    await page.waitForTitle(/^Revert of/);
    await page.page.locator('h1', { hasText: 'Completed' }).waitFor();
    expect((await service.key.get('/users/search?managed_by=payroll&status=Active')).body.Count).toBe(0);
  });

  test('the new-import page shows row errors of a dropped file', async () => {
    await service.key.put('/import_profiles/dropped', {
      dataset: 'dropped',
      columns: { No: 'ExternalId', Mail: 'Email', Login: 'Username' },
    });
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
    expect(await page.readRows('Problems')).toEqual([
      ['E-mail must be an e-mail address', '2', 'no address'],
    ]);
    expect((await page.readRows('First rows'))[0]?.[2]).toContain(MARKUP);
    expect(await plan().isEnabled()).toBe(true);
  });

  test('the new-import page rejects an empty file or invalid profile name', async () => {
    page = await service.openAsAdmin('/console/imports/new');
    await choose(writeFile('empty.csv', ['']));
    await problems().getByText('Prevents the import').waitFor();
    await choose(writeFile('other.csv', ['Nr,Mail', '1,a@example.org']));
    await getColumn('Nr').selectOption('ExternalId');
    await page.field('Save as profile').fill('no name/at all');
    await page.button('Save profile and refresh preview').click();
    await page.page.getByRole('alert').waitFor();
  });
});
