import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { TestApp } from '../support/app/app.js';
import { DAY, SealedAudit, afterHours, faultOf } from '../support/app/sealed-audit.js';

/** Whatever is changed behind the back of the service, the first seal that does not fit is named. */
let app: TestApp;
beforeEach(async () => void (app = await TestApp.start()));
afterEach(() => app.end());
const { seal, verify, execute, seals, insert, sealedHours } = new SealedAudit(() => app);

describe('tampering', () => {
  const COLUMNS = [
    ['time', '2020-01-01 00:00:00.000'],
    ['actor_kind', 'key'],
    ['actor_id', '0198f3a2-5d1c-7c4e-9a51-3f2b8c6d7e10'],
    ['action', 'user.blocked'],
    ['target_kind', 'session'],
    ['target_id', '0198f3a2-5d1c-7c4e-9a51-3f2b8c6d7e10'],
    ['changes', '[{"field":"phone","old":"","new":"1"}]'],
    ['request_id', 'other'],
    ['ip', '192.0.2.1'],
  ] as const;
  test.each(COLUMNS)('a changed %s is found, in its hour', async (column, value) => {
    const [, second] = await sealedHours();
    await execute(`UPDATE audit_events SET ${column} = ? WHERE id = ?`, [value, second![1]!]);
    expect(faultOf(await verify())).toEqual([2, 'events were changed: their hash does not fit']);
    const { fault } = await verify();
    expect([fault?.from?.slice(14, 19), fault?.until?.slice(14, 19)]).toEqual(['00:00', '00:00']);
  });
  test('a changed id too', async () => {
    const [, second] = await sealedHours();
    await execute('UPDATE audit_events SET id = ? WHERE id = ?', [
      second![1]!.replace(/.$/, (last) => (last === '0' ? '1' : '0')),
      second![1]!,
    ]);
    expect((await verify()).fault?.seal).toBe(2);
  });
  test('a row that was taken out', async () => {
    const [, , third] = await sealedHours();
    await execute('DELETE FROM audit_events WHERE id = ?', [third![3]!]);
    expect((await verify()).fault).toMatchObject({ seal: 3, message: expect.stringContaining('taken out') });
  });
  test('a row that was inserted among sealed ones of more than a day ago', async () => {
    const old = Date.now() - 3 * DAY;
    await insert(old, 3);
    await sealedHours();
    await insert(old + 1);
    await seal(afterHours()); // which does not make it good
    expect((await verify()).bad[0]?.message).toMatch(/^was inserted: it is of the time of seal 1/);
  });
  test('a seal that was taken out, with its rows', async () => {
    const [, second] = await sealedHours();
    await execute('DELETE FROM audit_seals WHERE number = 2');
    await execute(`DELETE FROM audit_events WHERE id IN (${second!.map(() => '?').join(', ')})`, second);
    expect(faultOf(await verify())).toEqual([3, 'the seals before it, from 2 on, are missing']);
  });
  test('all seals that were taken out', async () => {
    await sealedHours();
    await execute('DELETE FROM audit_seals');
    expect((await verify()).fault?.message).toContain('no seal');
  });
  test('the newest seals, or a whole new chain, by the seal that was kept elsewhere', async () => {
    await sealedHours();
    const kept = (await seals()).at(-1)!;
    expect((await verify(kept)).fault).toBeNull();
    await execute('DELETE FROM audit_seals WHERE number >= ?', [kept.number]);
    expect((await verify()).fault).toBeNull();
    expect((await verify(kept)).fault?.message).toContain('is missing');
    await execute('DELETE FROM audit_seals');
    await execute("UPDATE audit_events SET ip = '192.0.2.9'");
    await seal(Date.now());
    expect((await verify()).fault).toBeNull();
    expect(faultOf(await verify(kept))).toEqual([
      kept.number,
      'its hash is not the expected one: the chain was made anew',
    ]);
  });
});
