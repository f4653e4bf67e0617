import { beforeAll, expect, test } from '@jest/globals';
import type { Json } from '../support/app/client.js';
import { type ConsolePage, NARROW } from '../support/browser/console-page.js';
import { describeConsole } from '../support/browser/console-service.js';
import { csv, runImport, findUser } from '../support/app/imports.js';

const HEADER = 'ExternalId,Username,Email,Forename,Surname,Manager';
const NAMES = ['Ada', 'Bela', 'Cleo', 'Dora', 'Emil', 'Fay', 'Gus', 'Hana'];

/** A plan shows who its people are, finds a person, and shows the planned changes of each person. */
describeConsole('plans in the console', (service) => {
  let page: ConsolePage;
  let run: Json;
  const buildRow = (name: string, n: number, domain: string, manager: string) =>
    `PL-${n},${name.toLowerCase()}.plan,${name.toLowerCase()}@${domain},${name},Planned,${manager}`;
  const buildFile = (domain: string, manager: string) =>
    csv(HEADER, ...NAMES.map((name, n) => buildRow(name, n, domain, n > 1 ? manager : '')));
  beforeAll(async () => {
    await runImport(service.key, buildFile('example.org', 'PL-0'), 'dataset=plan');
    const more = csv(buildRow('Nora', 99, 'example.net', ''), buildRow('Otto', 98, 'example.net', 'PL-99'));
    run = await runImport(service.key, buildFile('example.net', 'PL-1') + more, 'dataset=plan');
    expect(run.state).toBe('needs_approval');
  });

  const listPeople = async () => (await page.readRows('Rows')).map((cells) => cells[2]);

  test('the plan page shows people and managers by name', async () => {
    page = await service.openAsAdmin(`/console/imports/${run.id}`);
    await page.waitForText('Cleo Planned');
    expect(await listPeople()).toContain('Cleo PlannedPL-2');
    await page.waitForText(/E-mail: 8\. More than \d+ need approval\./);
    const examples = await page.readRows('Examples: Changed logins only, E-mail');
    expect(examples[0]).toEqual(['2', 'Ada Planned', 'ada@example.org→ada@example.net']);
    expect(examples).toHaveLength(5);
    const cleo = (await page.readRows('Rows')).find((cells) => cells[2]?.startsWith('Cleo'));
    expect(cleo?.[3]).toContain('ada.plan→bela.plan');
    await page.page.getByRole('link', { name: 'bela.plan' }).first().waitFor();
    expect(await page.page.getByText('Nora Planned').count()).toBe(1);
    const otto = page.page.getByRole('row').filter({ hasText: 'Otto Planned' });
    await otto.getByText('nora.plan').waitFor();
    expect(await page.page.getByRole('link', { name: /nora/i }).count()).toBe(0); // the user does not exist yet
    await page.goto(`/console/imports/${run.id}?view=fields`);
    const created = page.page.getByRole('region', { name: 'Changes to Username' });
    await created.getByText('Nora Planned').waitFor();
    const usernames = (await page.readRows('Changes to Username')).map((cells) => cells[2]);
    expect(usernames).toEqual(['nora.plan', 'otto.plan']);
  });

  test('the plan page finds people by name or external id', async () => {
    page = await service.openAsAdmin(`/console/imports/${run.id}`);
    await page.field('Find a person').fill('cle pla');
    await page.waitForText('1 row');
    expect(await listPeople()).toEqual(['Cleo PlannedPL-2']);
    await page.waitForPath(`/console/imports/${run.id}?person=cle+pla`);
    await page.field('Find a person').fill('PL-99');
    await page.page.getByText('Nora PlannedPL-99').waitFor();
    expect(await listPeople()).toEqual(['Nora PlannedPL-99']);
    await page.page.getByRole('link', { name: /^Would be updated/ }).click();
    await page.waitForText('The plan has no rows for this user.');
    expect(page.path).toContain('person=PL-99');
  });

  test('the user page links to the planned changes of the user', async () => {
    const user = await findUser(service.key, 'PL-3');
    page = await service.openAsAdmin(`/console/users/${user.uuid}`);
    await page.waitForText('dora@example.net');
    await page.page.getByRole('link', { name: 'upload.csv' }).first().click();
    await page.waitForTitle(/^upload\.csv/);
    await page.waitForText('1 row');
    expect(await listPeople()).toEqual(['Dora PlannedPL-3']);
  });

  test('an import can be approved and reverted on a narrow screen', async () => {
    page = await service.openAsAdmin(`/console/imports/${run.id}`);
    await page.page.setViewportSize(NARROW);
    await page.page.getByText('Hana Planned').last().scrollIntoViewIfNeeded();
    const box = await page.button('Approve').boundingBox();
    expect(box && box.y > 0 && box.y + box.height <= NARROW.height).toBe(true);
    expect(await page.hasOverflow()).toBe(false);
    expect(await page.findViolations()).toEqual([]);
    await page.confirm('Approve');
    await page.page.locator('h1', { hasText: 'Completed' }).waitFor();
    await page.confirm('Revert');
    await page.waitForTitle(/^Revert of/);
    await page.page.locator('h1', { hasText: 'Completed' }).waitFor();
    await page.goto(`/console/imports/${run.id}`);
    await page.waitForText('This import was reverted');
    expect(await page.button('Revert').count()).toBe(0);
    await page.goto('/console/imports');
    await page.page.getByRole('link', { name: 'reverted' }).click();
    await page.waitForTitle(/^Revert of/);
  });
});
