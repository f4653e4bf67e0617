import { beforeEach, describe, expect, it } from '@jest/globals';
import type { Fields } from '../../tools/checker/history.js';
import { Model } from '../../tools/checker/model.js';

const PROMISE = ['refusals have a reason'];
const refused = (status: number, code: string) => ({
  effect: 'none' as const,
  answers: [[status, code] as const],
});

/** A refusal for which there was no reason at any moment is a decision on old data. */
describe('the checker, on refusals', () => {
  let model: Model;
  let webmaster: { user: string };
  let first: { user: string };
  let second: { user: string };
  const refuse = (who: { user: string }, fields: Fields, status: number, code: string): string[] => {
    model.change(who, fields, refused(status, code));
    return model.broken();
  };

  beforeEach(() => {
    model = new Model();
    webmaster = model.create({ roles: ['Webmaster'] });
    first = model.create({ username: 'one', external_id: 'E-1' });
    second = model.create({ username: 'two' });
  });

  it('accepts a name that another user has, as username or e-mail address', () => {
    expect(refuse(second, { username: 'ONE' }, 409, 'username_taken')).toEqual([]);
    expect(refuse(second, { email: 'one' }, 409, 'email_taken')).toEqual([]);
    expect(refuse(second, { external_id: 'E-1' }, 409, 'external_id_taken')).toEqual([]);
  });

  it('sees a refusal of a name that was given up before, or that nobody had', () => {
    model.change(first, { username: 'other' });
    expect(refuse(second, { username: 'one' }, 409, 'username_taken')).toEqual(PROMISE);
  });

  it('sees a refusal of an external id that nobody had', () => {
    expect(refuse(second, { external_id: 'e-1' }, 409, 'external_id_taken')).toEqual(PROMISE);
  });

  it('accepts a name that a change without an outcome may have taken', () => {
    model.change(
      first,
      { username: 'maybe' },
      { effect: 'unknown', answers: [[0, 'timeout']], applied: true },
    );
    expect(refuse(second, { username: 'maybe' }, 409, 'username_taken')).toEqual([]);
  });

  it('sees a 412 though nobody changed the user', () => {
    const seenAt = model.now();
    const stale = { ...refused(412, 'precondition_failed'), seen: { about_me: null }, seenAt };
    model.change(second, { about_me: '1 a' }, stale);
    expect(model.broken()).toEqual(PROMISE);
    model.history.entries.pop();
    model.change(second, { known_as: 'changed' });
    model.change(second, { about_me: '1 a' }, stale);
    expect(model.broken()).toEqual([]);
  });

  it('sees a repetition that is refused because its own first attempt has changed the user', () => {
    const answers = [[0, 'ECONNRESET'] as const, [412, 'precondition_failed'] as const];
    model.change(second, { known_as: 'a' }, { effect: 'unknown', answers, applied: true, seen: {} });
    const [row] = model.audit.slice(-1);
    Object.assign(row ?? {}, { request_id: model.history.of('change').at(-1)?.call.attempts[0]?.id });
    expect(model.broken()).toEqual(PROMISE);
  });

  it('sees that the last Webmaster was protected though there was another', () => {
    expect(refuse(webmaster, { status: 'Blocked' }, 409, 'last_webmaster')).toEqual([]);
    model.change(first, { roles: ['Webmaster'] });
    expect(refuse(webmaster, { status: 'Blocked' }, 409, 'last_webmaster')).toEqual(PROMISE);
  });

  it('sees that a circle was refused that nothing would have closed', () => {
    model.change(first, { manager_uuid: second.user });
    expect(refuse(second, { manager_uuid: first.user }, 422, 'validation_failed')).toEqual([]);
    expect(refuse(second, { manager_uuid: webmaster.user }, 422, 'validation_failed')).toEqual(PROMISE);
  });

  it('sees a 404 for a user that exists', () => {
    expect(refuse(first, { phone: '1' }, 404, 'not_found')).toEqual(PROMISE);
  });
});
