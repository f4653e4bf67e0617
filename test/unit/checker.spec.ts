import { beforeEach, describe, expect, it } from '@jest/globals';
import { Model } from '../../tools/checker/model.js';

const lost = [0, 'ECONNRESET'] as const;

/**
 * Each test plants a fault in a history without faults, and the check for this fault must report it. The test
 * `planted` plants faults in a database.
 */
describe('the history checker', () => {
  let model: Model;
  let first: { user: string };
  let second: { user: string };

  beforeEach(() => {
    model = new Model();
    model.create({ roles: ['Webmaster'] });
    first = model.create({ about_me: '0', external_id: 'E-1' });
    second = model.create();
    const seen = { about_me: '0' };
    model.change(first, { about_me: '1 x' }, { seen });
    model.change(first, { known_as: 'one' });
    model.change(second, { status: 'Blocked' });
    model.change(second, { status: 'Active' });
    model.read(first);
    model.count();
    model.walk();
  });

  it('reports nothing for a history without faults', () => {
    model.change(first, { known_as: 'maybe' }, { effect: 'unknown', answers: [lost], applied: true });
    model.change(first, { phone: 'maybe' }, { effect: 'unknown', answers: [[503, 'outcome_unknown']] });
    model.create({}, { effect: 'unknown', answers: [lost], applied: true });
    model.create({}, { effect: 'none', answers: [[503, 'unavailable']] });
    model.change(first, { phone: 'gone' }, { effect: 'unknown', answers: [lost] });
    model.read(first, { ...model.fieldsOf(first.user), phone: 'gone' });
    model.change(first, { known_as: 'two' }, { answers: [lost, [200, '']] });
    model.change(second, { phone: 'no change' });
    model.change(second, { phone: 'no change' });
    model.read(first);
    model.count();
    expect(model.findBroken()).toEqual([]);
  });

  it('reports a lost acknowledged change', () => {
    model.change(first, { known_as: 'two' });
    Object.assign(model.users.get(first.user) ?? {}, { known_as: 'one' });
    model.audit.pop();
    expect(model.findBroken()).toEqual(['nothing lost', 'audit']);
  });

  it('reports instances that return different values for one user', () => {
    const final = model.toFinalState();
    const users = final.seen[1]?.users.map((user) =>
      user.uuid === first.user ? { ...user, fields: { ...user.fields, known_as: 'zero' } } : user,
    );
    const seen = [final.seen[0], { ...final.seen[1], users }] as typeof final.seen;
    expect(model.findBroken({ ...final, seen })).toContain('nothing lost');
  });

  it('reports two successful updates with the same If-Match', () => {
    const seen = { about_me: '1 x' };
    model.change(first, { about_me: '2 a' }, { seen });
    model.change(first, { about_me: '2 b' }, { seen });
    expect(model.findBroken()).toEqual(['no lost update', 'audit']);
  });

  it('reports a read that misses an acknowledged change', () => {
    const before = model.fieldsOf(first.user);
    model.change(first, { known_as: 'two' });
    model.read(first, before);
    expect(model.findBroken()).toEqual(['reads see what was acknowledged']);
  });

  it('reports reads that go back to an older state', () => {
    const before = model.fieldsOf(first.user);
    model.change(first, { known_as: 'maybe' }, { effect: 'unknown', answers: [lost], applied: true });
    model.read(first);
    model.read(first, before);
    expect(model.findBroken()).toEqual(['reads see what was acknowledged']);
  });

  it('reports a new user who is missing on another instance', () => {
    model.miss(model.create());
    expect(model.findBroken()).toEqual(['reads see what was acknowledged']);
  });

  it.each<[string, () => unknown]>([
    ['that is stored twice', () => model.audit.push({ ...model.audit.at(-1)!, id: 'again' })],
    ['with a wrong old value', () => change(model.audit.at(-1)!.changes, 'old', 'other')],
    ['with a wrong new value', () => change(model.audit.at(-1)!.changes, 'new', 'other')],
    ['with a wrong field', () => change(model.audit.at(-1)!.changes, 'field', 'phone')],
    [
      'that names the wrong user',
      () => Object.assign(model.audit.at(-1)!, { target: { kind: 'user', id: second.user } }),
    ],
    ['of an unknown request', () => Object.assign(model.audit.at(-1)!, { request_id: 'other' })],
    ['of a refused request', () => model.change(first, { phone: '1' }, refused)],
    [
      'of a session that was never created',
      () => Object.assign(model.history.filter('issue')[0]!.call, { effect: 'none' }),
    ],
  ])('reports an audit row %s', (_name, plant) => {
    model.issue(first.user);
    model.change(first, { known_as: 'two' });
    expect(model.findBroken()).toEqual([]);
    plant();
    expect(model.findBroken()).toContain('audit');
  });
  const refused = { effect: 'none', answers: [[409, 'wrong_state']], applied: true } as const;
  const change = (changes: readonly object[], key: string, value: string): unknown =>
    Object.assign(changes[0]!, { [key]: value });

  it('reports changes applied in another order than acknowledged', () => {
    model.change(first, { phone: '1' });
    model.change(first, { phone: '2' });
    const [one, two] = model.audit.slice(-2);
    Object.assign(two!, { changes: [{ field: 'phone', old: null, new: '2' }] });
    Object.assign(one!, { changes: [{ field: 'phone', old: '2', new: '1' }] });
    Object.assign(model.users.get(first.user)!, { phone: '1' });
    expect(model.findBroken()).toContain('order of changes');
  });

  it('reports an email that equals the username of another user', () => {
    model.change(first, { username: 'ONE@example.org' });
    model.change(second, { email: 'one@example.org' });
    expect(model.findBroken()).toEqual(['uniqueness']);
  });

  it('reports a username that two users shared temporarily', () => {
    model.change(first, { username: 'one' });
    model.change(second, { username: 'one' });
    model.change(second, { username: 'two' });
    expect(model.findBroken()).toEqual(['uniqueness']);
  });

  it('reports an external id that two users share', () => {
    model.create({ external_id: 'E-1' });
    expect(model.findBroken()).toEqual(['uniqueness']);
  });

  it('reports a management cycle that a later change resolved', () => {
    model.change(first, { manager_uuid: second.user });
    expect(model.findBroken()).toEqual([]);
    model.change(second, { manager_uuid: first.user });
    expect(model.findBroken()).toEqual(['no manager circle']);
    model.change(second, { manager_uuid: null });
    expect(model.findBroken()).toEqual(['no manager circle']);
  });

  it('reports a period without an active Webmaster', () => {
    const [webmaster] = model.history.filter('create');
    model.change(first, { roles: ['Webmaster'] });
    model.change(webmaster!, { roles: ['Author'] });
    expect(model.findBroken()).toEqual([]);
    model.change(first, { status: 'Blocked' });
    expect(model.findBroken()).toEqual(['a Webmaster stays']);
    model.change(first, { status: 'Active' });
    expect(model.findBroken()).toEqual(['a Webmaster stays']);
  });

  it('reports a wrong user count', () => {
    const final = model.toFinalState();
    const [one, ...others] = final.seen;
    const seen = [{ ...one!, counts: { ...one!.counts, Active: 7 } }, ...others];
    expect(model.findBroken({ ...final, seen })).toEqual(['counts']);
    model.count(model.users.size - 1);
    expect(model.findBroken()).toEqual(['counts']);
  });

  it('reports a wrong count of blocked users', () => {
    model.change(second, { status: 'Blocked' });
    model.count(1, 'Blocked');
    expect(model.findBroken()).toEqual([]);
    model.count(0, 'Blocked');
    expect(model.findBroken()).toEqual(['counts']);
  });

  it.each([
    ['misses a user', (users: string[]) => users.slice(1)],
    ['returns a user twice', (users: string[]) => [...users, users[0]!]],
  ])('reports a read of all cursor pages that %s', (_name, plant) => {
    model.walk(plant([...model.users.keys()]));
    expect(model.findBroken()).toEqual(['complete walks']);
  });

  it('reports a difference between offset and cursor pages', () => {
    const final = model.toFinalState();
    const seen = final.seen.map((one) => ({ ...one, byOffset: one.byOffset.slice(1) }));
    expect(model.findBroken({ ...final, seen })).toEqual(['complete walks']);
  });

  it('reports wrong search results and duplicate API keys', () => {
    const final = model.toFinalState();
    const lookup = { query: 'username=one', expected: ['n1'], exact: true, found: ['n1', 'n2'] };
    expect(model.findBroken({ ...final, lookups: [lookup] })).toEqual(['searches']);
    expect(model.findBroken({ ...final, lookups: [{ ...lookup, exact: false }] })).toEqual([]);
    model.issue();
    expect(model.findBroken({ ...final, keys: [...model.keys, ...model.keys] })).toEqual(['retried keys']);
  });

  it('reports an accepted session of a blocked user', () => {
    const session = model.issue(first.user);
    const key = model.issue();
    for (const credential of [session, key]) model.use(credential, true);
    model.end(key, 'api_key');
    model.use(key, false);
    expect(model.findBroken()).toEqual([]);
    model.change(first, { status: 'Blocked' });
    model.use(session, true);
    expect(model.findBroken()).toEqual(['ended credentials are refused']);
  });

  it('reports an accepted revoked key and a refused valid key', () => {
    const [revoked, good] = [model.issue(), model.issue()];
    model.end(revoked, 'api_key');
    model.use(revoked, true);
    expect(model.findBroken()).toEqual(['ended credentials are refused']);
    model.history.entries.pop();
    expect(model.findBroken()).toEqual([]);
    model.use(good, false);
    expect(model.findBroken()).toEqual(['ended credentials are refused']);
  });

  it('reports a retried creation that conflicts with its first attempt', () => {
    const username = 'again';
    const answers = [lost, [409, 'username_taken'] as const];
    model.create({ username }, { effect: 'unknown', answers, applied: true });
    expect(model.findBroken()).toEqual(['retried keys']);
  });

  it('reports a 500 response, and a change applied despite a 503 response', () => {
    model.call({ effect: 'unknown', answers: [[500, 'internal']] });
    expect(model.findBroken()).toEqual(['responses']);
    const unavailable = { effect: 'none', answers: [[503, 'unavailable']], applied: true } as const;
    model.change(first, { known_as: 'x' }, unavailable);
    expect(model.findBroken()).toContain('unavailable means that nothing happened');
  });
});
