import { expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { aroundApply } from '../support/app/around-apply.js';
import type { Json } from '../support/app/client.js';
import { setUpDropFolder, setUpSchedule } from '../support/app/drop-folder.js';
import { type ConsolePage, NARROW, WIDE } from '../support/browser/console-page.js';
import { describeConfiguredConsole, describeConsole } from '../support/browser/console-service.js';
import { csv, runImport, awaitRun, findUser, upload } from '../support/app/imports.js';

const NAMES = ['ada', 'bela', 'cleo', 'dora', 'emil', 'fay', 'gus', 'hana'];
const HEADER = 'ExternalId,Username,Email,Surname';

describeConsole('imports in the console', (service) => {
  let page: ConsolePage;

  const buildFile = (dataset: string, domain: string): string => {
    const rowOf = (name: string, n: number) => `${dataset}-${n},${name},${name}@${domain},Of ${name}`;
    return csv(HEADER, ...NAMES.map((name) => `${name}.${dataset}`).map(rowOf));
  };
  /** Starts a run that waits for approval, because it changes every e-mail address. */
  const parkRun = async (dataset: string): Promise<Json> => {
    const made = await runImport(service.key, buildFile(dataset, 'example.org'), `dataset=${dataset}`);
    expect(made.state).toBe('completed');
    const run = await runImport(service.key, buildFile(dataset, 'example.net'), `dataset=${dataset}`);
    expect(run.state).toBe('needs_approval');
    return run;
  };

  test('the import page groups changes by outcome or by field', async () => {
    const run = await parkRun('diff');
    page = await service.openAsAdmin(`/console/imports/${run.id}`);
    await page.page.getByRole('link', { name: 'Would be updated 8' }).click();
    await page.page.getByRole('link', { name: 'Group by field' }).click();
    const changes = page.page.getByRole('region', { name: 'Changes to E-mail' });
    await changes.first().waitFor();
    expect(await changes.first().locator('tbody tr').count()).toBe(5);
    await page.page.getByText('3 more rows').click();
    await changes.nth(1).waitFor();
    expect(await changes.locator('tbody tr').count()).toBe(8);
    await page.waitForPath(`/console/imports/${run.id}?outcome=updated&view=fields`);
    await page.page.reload();
    await changes.first().waitFor();
    await page.page.goBack();
    await page.page.getByRole('region', { name: 'Rows', exact: true }).first().waitFor();
  });

  test('the approval and revert dialogs show the number of affected users', async () => {
    const run = await parkRun('approved');
    page = await service.openAsAdmin(`/console/imports/${run.id}`);
    await page.confirm(
      'Approve',
      /^8 users will be updated\. This needs your approval because of: [A-Z].+\. A new plan is created first/,
    );
    await page.page.locator('h1', { hasText: 'Completed' }).waitFor();
    expect((await awaitRun(service.key, run.id)).state).toBe('completed');
    await page.confirm('Revert', /reverts this import\. 8 users will be restored to their previous values\./);
    await page.waitForTitle(/^Revert of/);
    await page.page.locator('h1', { hasText: 'Completed' }).waitFor();
    const { body } = await service.key.get('/users/search?external_id=approved-0');
    expect(body.Results[0].email).toBe('ada.approved@example.org');
  });

  test('the page of a plan that was not applied shows how many users it would affect', async () => {
    const run = await parkRun('rejected');
    page = await service.openAsAdmin(`/console/imports/${run.id}`);
    await page.confirm('Reject', /The plan will not be applied\. It would affect 8 users\./);
    await page.page.locator('h1', { hasText: 'Rejected' }).waitFor();
    expect(await page.button('Approve').count()).toBe(0);
    await page.goto('/console/imports?dataset=rejected&state=rejected');
    await page.waitForText('8 would be updated');
    const cancelled = await parkRun('cancelled');
    await service.key.post(`/imports/${cancelled.id}/cancel`);
    await page.goto(`/console/imports/${cancelled.id}`);
    await page.waitForText('Changes that were not applied');
    expect(await page.button('Revert').count()).toBe(0);
  });

  /** Imports a file with an invalid manager, a report of this manager, and a row with the name of an unlinked user. */
  const importFailures = async (dataset: string): Promise<Json> => {
    const unlinked = { username: `una.${dataset}`, email: `una.${dataset}@example.org`, firstname: 'Una' };
    await service.key.post('/users', unlinked);
    const file = csv(
      'ExternalId;Username;E-Mail;Forename;Surname;Manager',
      `${dataset}-1;mia.${dataset};no address;Mia;"Boss; the";`,
      `${dataset}-2;rob.${dataset};rob.${dataset}@example.org;Rob;Report;${dataset}-1`,
      `${dataset}-3;una.${dataset};una.${dataset}@example.org;Una;;`,
    );
    return runImport(service.key, file, `dataset=${dataset}`);
  };
  const nextRun = async (): Promise<Json> => {
    await page.waitForText('Corrects upload.csv');
    return awaitRun(service.key, page.path.split('/').at(-1) ?? '');
  };

  test('failed rows are corrected in the console', async () => {
    const failed = await importFailures('fix');
    page = await service.openAsAdmin(`/console/imports/${failed.id}`);
    await page.waitForText('1 line causes 1 of the 3 errors:');
    await page.waitForText('Line 2 Mia Boss; the: 1 error');
    await page.page.getByRole('link', { name: 'Unknown reference 1' }).click();
    await page.waitForText('1 row');
    expect((await page.readRows('Rows')).map((cells) => cells[2])).toEqual(['Rob Reportfix-2']);
    await page.page.getByRole('link', { name: 'Correct the rows' }).click();
    await page.field('E-Mail, line 2').fill('mia.fix@example.org');
    await page.field('Surname, line 3').fill('=Report');
    await page.field('Link to this user').first().check();
    await page.page.locator('.corrected').getByRole('link', { name: 'line 2' }).click();
    await page.page.locator('#cell-2-0:focus').waitFor();
    for (const viewport of [NARROW, WIDE]) {
      await page.page.setViewportSize(viewport);
      expect([await page.hasOverflow(), await page.findViolations()]).toEqual([false, []]);
    }
    await page.page.getByRole('link', { name: 'Una (una.fix)' }).first().click();
    await page.dialog.getByRole('button', { name: 'Stay' }).click();
    await page.button('Send again').click();
    const run = await nextRun();
    expect([run.state, run.corrects, run.options.dataset]).toEqual(['completed', failed.id, 'fix']);
    const report = await findUser(service.key, 'fix-2');
    expect(report).toMatchObject({ surname: '=Report', email: 'rob.fix@example.org' });
    expect(report.manager_uuid).toBe((await findUser(service.key, 'fix-1')).uuid);
    expect((await findUser(service.key, 'fix-3')).username).toBe('una.fix');
  });

  test('failed rows are downloaded, corrected and sent again as a file', async () => {
    const failed = await importFailures('file');
    page = await service.openAsAdmin(`/console/imports/${failed.id}?outcome=error&view=correct`);
    const [saved] = await Promise.all([
      page.page.waitForEvent('download'),
      page.page.getByRole('link', { name: 'Failed rows' }).click(),
    ]);
    const text = readFileSync(await saved.path(), 'utf8').replace('no address', 'mia.file@example.org');
    const file = { name: 'failed.csv', mimeType: 'text/csv', buffer: Buffer.from(text) };
    await page.page.locator('input[type=file]').setInputFiles(file);
    const { counts, corrects } = await nextRun();
    expect([counts.created, counts.error, corrects]).toEqual([2, 1, failed.id]);
  });

  test('the import page shows why the file was rejected', async () => {
    const run = await runImport(service.key, csv('Foo,Bar', '1,2'));
    page = await service.openAsAdmin(`/console/imports/${run.id}`);
    await page.waitForText('The header has no column ExternalId, which matches rows to users.');
  });

  test('the list of imports is filtered by data set, profile, sender and time', async () => {
    const run = await runImport(service.key, buildFile('only', 'example.org'), 'dataset=only&profile=moodle');
    page = await service.openAsAdmin('/console/imports');
    await page.field('Data set').fill('only');
    await page.field('Profile').fill('moodle');
    await page.field('Started by').fill(String(run.actor.id));
    await page.field('Before').fill('2036-01-01T00:00');
    await page.waitForText('1 import');
    expect(page.path).toContain('dataset=only&profile=moodle&actor=');
    await page.page.setViewportSize({ width: 360, height: 700 });
    expect(await page.hasOverflow()).toBe(false);
    const table = page.page.getByRole('region', { name: 'Imports', exact: true });
    expect(await table.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0);
    await page.field('Started by').fill('nobody');
    await page.waitForText('does not match exactly one user');
  });

  test('the list of imports shows progress without a reload', async () => {
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    aroundApply(service.app, () => released);
    const { body } = await upload(service.key, buildFile('live', 'example.org'), 'dataset=live');
    page = await service.openAsAdmin();
    const path = `/imports/${body.id}/events`;
    const streamed = page.page.waitForRequest((request) => request.url().endsWith(path));
    await page.goto('/console/imports');
    const row = page.page.locator('tr', { has: page.page.locator(`a[href$="${body.id}"]`) });
    await row.locator('progress').waitFor();
    await streamed;
    release();
    await row.getByText('Completed').waitFor();
  });
});

const drop = setUpDropFolder();
const SCHEDULE = { ...setUpSchedule(drop), IMPORT_PATTERN: 'hr*.csv' };

describeConfiguredConsole('the schedule in the console', SCHEDULE, (service) => {
  test('a file is uploaded into the drop folder and imported', async () => {
    drop.addFile('other.csv');
    const page = await service.openAsAdmin('/console/schedule');
    const buffer = Buffer.from(csv('ExternalId,Username,Email', 'é,zo,zo@example.org'), 'latin1');
    const choose = (name: string) =>
      page.page.setInputFiles('input[type=file]', { name, mimeType: 'text/csv', buffer });
    await choose('wrong.csv');
    await page.waitForText(/must have a name that matches hr\*\.csv/);
    await choose('hr.csv');
    await page.waitForText('complete, waits for the next check');
    expect((await page.readRows('Waiting files')).map(([name, reason]) => [name, reason])).toEqual([
      ['hr.csv', 'complete, waits for the next check'],
      ['other.csv', 'the name does not match hr*.csv (IMPORT_PATTERN)'],
    ]);
    await page.button('Import now').focus();
    await page.page.keyboard.press('Enter');
    await page.waitForText('1 file will be imported.');
    const [run] = (await service.key.get('/imports')).body.Results;
    expect(run.file).toMatchObject({ name: 'hr.csv', size: 48 });
    await page.page.setViewportSize({ width: 360, height: 700 });
    expect([await page.hasOverflow(), await page.findViolations()]).toEqual([false, []]);
  });
});
