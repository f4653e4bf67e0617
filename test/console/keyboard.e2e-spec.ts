import { beforeAll, expect, test } from '@jest/globals';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ADMIN_PASSWORD } from '../support/app/app.js';
import type { ConsolePage } from '../support/browser/console-page.js';
import { describeConsole } from '../support/browser/console-service.js';
import { csv, runImport } from '../support/app/imports.js';

const HEADER = 'ExternalId,Username,Email,Forename';
const NAMES = ['ada', 'bela', 'cleo', 'dora', 'emil', 'fay', 'gus', 'hana'];
/** Maximum number of presses of Tab to reach an element. */
const MAX_TABS = 80;

interface Focused {
  /** Text of the element, text of its label, or its `aria-label`. */
  name: string;
  /** True if an outline or a shadow shows the focus, or if the page itself has it. */
  isSeen: boolean;
}

/** The main tasks without a mouse, with Tab, Enter, Space, Escape and typed text. */
describeConsole('keyboard access to the console', (service) => {
  let page: ConsolePage;
  beforeAll(async () => {
    await runImport(service.key, buildFile('example.org'));
  });

  const buildFile = (domain: string): string =>
    csv(HEADER, ...NAMES.map((name, n) => `K-${n},${name},${name}@${domain},${name}`));
  const press = (key: string) => page.page.keyboard.press(key);
  const type = (text: string) => page.page.keyboard.type(text);

  const getFocused = (): Promise<Focused> =>
    page.page.evaluate<Focused>(`(() => {
      const tag = document.activeElement;
      if (tag === document.body) return { name: 'nothing', isSeen: true };
      const { outlineStyle, boxShadow } = getComputedStyle(tag);
      const name = tag.getAttribute('aria-label') ?? tag.labels?.[0]?.innerText ?? tag.innerText;
      return { name: name.trim(), isSeen: outlineStyle !== 'none' || boxShadow !== 'none' };
    })()`);

  /** Presses Tab until an element of that name has the focus. Expects a visible focus after every press. */
  async function reach(name: string | RegExp): Promise<void> {
    const passed: string[] = [];
    for (let step = 0; step < MAX_TABS; step++) {
      const { name: found, isSeen } = await getFocused();
      if (typeof name === 'string' ? found === name : name.test(found)) return;
      passed.push(found.slice(0, 40));
      await press('Tab');
      if (step > 0) expect([found, isSeen]).toEqual([found, true]);
    }
    throw new Error(`${String(name)} is not reached; passed: ${passed.join(' | ')}`);
  }
  async function activate(name: string | RegExp): Promise<void> {
    await reach(name);
    await press('Enter');
  }
  async function open(path: string): Promise<void> {
    page = await service.openAsAdmin(path);
    await page.waitUntilLoaded();
  }

  test('the keyboard is enough to sign in to the console', async () => {
    page = await service.open();
    await page.waitForTitle('Sign in to Rollcall');
    expect((await getFocused()).name).toBe('Username or e-mail');
    await type('admin');
    await press('Tab');
    expect(await getFocused()).toEqual({ name: 'Password', isSeen: true });
    await type(ADMIN_PASSWORD);
    await press('Enter');
    await page.waitForTitle('Home');
  });

  test('the keyboard is enough to approve and revert an import', async () => {
    const run = await runImport(service.key, buildFile('example.net'));
    expect(run.state).toBe('needs_approval');
    await open('/console');
    await activate('upload.csv');
    await page.page.locator('h1', { hasText: 'Needs approval' }).waitFor();
    await activate('Approve');
    await page.dialog.waitFor();
    // Enter on the first focused button of the dialog only closes it.
    await press('Enter');
    await page.dialog.waitFor({ state: 'detached' });
    expect((await getFocused()).name).toBe('Approve');
    expect((await service.key.get(`/imports/${run.id}`)).body.state).toBe('needs_approval');
    await press('Enter');
    await page.dialog.waitFor();
    await press('Escape');
    await page.dialog.waitFor({ state: 'detached' });
    await press('Enter');
    await reach(/^Reason/);
    await type('announced on Monday');
    await press('Tab');
    await reach('Approve');
    await press('Space');
    await page.page.locator('h1', { hasText: 'Completed' }).waitFor();
    const approved = (await service.key.get(`/audit?target=${run.id}&action=import.approved`)).body.Results;
    expect(approved[0].reason).toBe('announced on Monday');
    await activate('Revert');
    await reach(/^Reason/);
    await activate('Revert');
    await page.waitForTitle(/^Revert of/);
    await page.page.locator('h1', { hasText: 'Completed' }).waitFor();
    const ada = (await service.key.get('/users/search?username=ada')).body.Results[0];
    expect(ada.email).toBe('ada@example.org');
  });

  test('the keyboard is enough to find, edit and block a user', async () => {
    await open('/console/users');
    await reach('Search');
    await type('cleo');
    await page.waitForText('1 user');
    await activate('cleo');
    await page.waitForTitle(/^cleo/);
    await activate('Edit');
    await reach('Phone');
    await type('+49 30 1234');
    await press('Enter');
    await page.waitForText('+49 30 1234');
    await activate('Block');
    await reach(/^Reason/);
    await activate('Block');
    await page.waitForText('cleo is blocked.');
    const { status, phone } = (await service.key.get('/users/search?username=cleo')).body.Results[0];
    expect({ status, phone }).toEqual({ status: 'Blocked', phone: '+49 30 1234' });
  });

  test('the keyboard is enough to plan and reject an import', async () => {
    await open('/console/imports/new');
    const path = join(service.folder, 'keyboard.csv');
    writeFileSync(path, buildFile('example.com'));
    const chooser = page.page.waitForEvent('filechooser');
    await activate(/^Choose files/);
    await (await chooser).setFiles(path);
    await page.waitForText(/^No users are changed until/);
    await activate('Create plan');
    await page.waitForTitle(/^keyboard\.csv/);
    await activate('Reject');
    await reach(/^Reason/);
    await activate('Reject');
    await page.page.locator('h1', { hasText: 'Rejected' }).waitFor();
  });

  test('the keyboard is enough to create and revoke an API key', async () => {
    await open('/console/keys');
    await activate('New key');
    await reach('Purpose');
    await type('keyboard');
    await activate('Create key');
    await page.dialog.getByText(/^rollcall_/).waitFor();
    await activate('I have copied it');
    await page.page.getByRole('row').filter({ hasText: 'keyboard' }).waitFor();
    await activate('Revoke');
    await reach(/^Reason/);
    await activate('Revoke');
    await page.waitForText('keyboard was revoked.');
  });
});
