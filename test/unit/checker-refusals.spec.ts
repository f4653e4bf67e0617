import { beforeEach, describe, expect, it } from '@jest/globals';
import type { Fields } from '../../tools/checker/history.js';
import { Model } from '../../tools/checker/model.js';

const PROMISE = ['refusals have a reason'];
const refusal = (status: number, code: string) => ({
  effect: 'none' as const,
  answers: [[status, code] as const],
});

/** A refusal without a reason at any time during the request is a decision on stale data. */
describe('the refusal check', () => {
  let model: Model;
  let webmaster: { user: string };
  let first: { user: string };
  let second: { user: string };
  const refuse = (who: { user: string }, fields: Fields, status: number, code: string): string[] => {
    model.change(who, fields, refusal(status, code));
    return model.findBroken();
  };

  beforeEach(() => {
    model = new Model();
    webmaster = model.create({ roles: ['Webmaster'] });
    first = model.create({ username: 'one', external_id: 'E-1' });
    second = model.create({ username: 'two' });
  });

  it('accepts a refusal of an identifier that another user has', () => {
    expect(refuse(second, { username: 'ONE' }, 409, 'username_taken')).toEqual([]);
    expect(refuse(second, { email: 'one' }, 409, 'email_taken')).toEqual([]);
    expect(refuse(second, { external_id: 'E-1' }, 409, 'external_id_taken')).toEqual([]);
  });

  it('reports a username_taken refusal after the username was released', () => {
    model.change(first, { username: 'other' });
    expect(refuse(second, { username: 'one' }, 409, 'username_taken')).toEqual(PROMISE);
  });

  it('reports an external_id_taken refusal for ids differing in case', () => {
    expect(refuse(second, { external_id: 'e-1' }, 409, 'external_id_taken')).toEqual(PROMISE);
  });

  it('accepts a username_taken refusal after a change with unknown outcome', () => {
    const timeout = { effect: 'unknown', answers: [[0, 'timeout']], applied: true } as const;
    model.change(first, { username: 'maybe' }, timeout);
    expect(refuse(second, { username: 'maybe' }, 409, 'username_taken')).toEqual([]);
  });

  it('reports a 412 response for an unchanged user', () => {
    const seenAt = model.now();
    const stale = { ...refusal(412, 'precondition_failed'), seen: { about_me: null }, seenAt };
    model.change(second, { about_me: '1 a' }, stale);
    expect(model.findBroken()).toEqual(PROMISE);
    model.history.entries.pop();
    model.change(second, { known_as: 'changed' });
    model.change(second, { about_me: '1 a' }, stale);
    expect(model.findBroken()).toEqual([]);
  });

  it('reports a retry refused because of its first attempt', () => {
    const answers = [[0, 'ECONNRESET'] as const, [412, 'precondition_failed'] as const];
    model.change(second, { known_as: 'a' }, { effect: 'unknown', answers, applied: true, seen: {} });
    const [row] = model.audit.slice(-1);
    Object.assign(row ?? {}, { request_id: model.history.filter('change').at(-1)?.call.attempts[0]?.id });
    expect(model.findBroken()).toEqual(PROMISE);
  });

  it('reports a last_webmaster refusal while another Webmaster is active', () => {
    expect(refuse(webmaster, { status: 'Blocked' }, 409, 'last_webmaster')).toEqual([]);
    model.change(first, { roles: ['Webmaster'] });
    expect(refuse(webmaster, { status: 'Blocked' }, 409, 'last_webmaster')).toEqual(PROMISE);
  });

  it('reports a manager change refused although it creates no cycle', () => {
    model.change(first, { manager_uuid: second.user });
    expect(refuse(second, { manager_uuid: first.user }, 422, 'validation_failed')).toEqual([]);
    expect(refuse(second, { manager_uuid: webmaster.user }, 422, 'validation_failed')).toEqual(PROMISE);
  });

  it('reports a 404 response for an existing user', () => {
    expect(refuse(first, { phone: '1' }, 404, 'not_found')).toEqual(PROMISE);
  });
});
