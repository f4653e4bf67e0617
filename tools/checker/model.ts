import type { AuditRow, FinalState, InstanceState } from './final-state.js';
import {
  type Attempt,
  type Call,
  type Change,
  type Create,
  type Effect,
  type Fields,
  History,
} from './history.js';
import { checkHistory } from './check-history.js';
import { TRACKED, normalize, isSame } from './world.js';

/** Details of a request in the model. */
interface CallDetails {
  effect?: Effect;
  /** Status and code of each attempt. Default: one attempt with 200. */
  answers?: readonly (readonly [status: number, code: string])[];
  /** True if users and audit change, independent of the response. Default: yes if the effect is `done`. */
  applied?: boolean;
  seen?: Fields;
  /** Time when `seen` was read. Default: the begin of the request. */
  seenAt?: number;
}

/**
 * A small model of a correct service. It creates the history and the final state of a run without faults, into which a
 * test introduces a fault.
 */
export class Model {
  readonly history = new History();
  readonly audit: AuditRow[] = [];
  readonly users = new Map<string, Record<string, unknown>>();
  readonly keys: string[] = [];
  private time = 0;
  private numbers = 0;

  constructor(private readonly instances = 2) {}

  now(): number {
    return ++this.time;
  }

  createId(): string {
    return `n${++this.numbers}`;
  }

  call(how: CallDetails = {}): Call {
    const { effect = 'done', answers = [[200, '']] } = how;
    const begin = this.now();
    const attempts = answers.map(([status, code]): Attempt => {
      return { id: this.createId(), instance: 0, begin: this.now(), end: this.now(), status, code };
    });
    this.history.attempts.push(...attempts);
    const end = effect === 'unknown' ? Infinity : this.now();
    return { client: '', method: 'PUT', path: '', attempts, begin, end, effect, keyed: true };
  }

  create(fields: Fields = {}, how: CallDetails = {}): Create {
    const call = this.call(how);
    const user = this.createId();
    const all = { username: `name-${user}`, email: `${user}@example.org`, ...fields };
    if (how.applied ?? call.effect === 'done') {
      const roles = ['Organisational user'];
      const created = { ...all, roles: fields['roles'] ?? roles, status: fields['status'] ?? 'Active' };
      this.users.set(user, created);
      this.log(call, 'user.created', user, {}, created);
    }
    return this.history.add({ kind: 'create', call, user: call.effect === 'done' ? user : '', fields: all });
  }

  change({ user }: { user: string }, fields: Fields, how: CallDetails = {}): Change {
    const call = this.call(how);
    if (how.applied ?? call.effect === 'done') {
      const before = this.users.get(user) ?? {};
      const changed = Object.fromEntries(
        Object.entries(fields).filter(([field, value]) => !isSame(before[field], value)),
      );
      this.users.set(user, { ...before, ...fields });
      if (Object.keys(changed).length > 0) this.log(call, 'user.updated', user, before, changed);
    }
    return this.history.add({
      kind: 'change',
      call,
      user,
      fields,
      ...(how.seen && { seen: { fields: how.seen, begin: how.seenAt ?? call.begin } }),
    });
  }

  read({ user }: { user: string }, fields = this.fieldsOf(user)): void {
    this.history.add({ kind: 'read', user, instance: 1, begin: this.now(), end: this.now(), fields });
  }

  /** Records a read that finds no user. */
  miss({ user }: { user: string }): void {
    const [begin, end] = [this.now(), this.now()];
    this.history.add({ kind: 'read', user, instance: 1, begin, end, fields: undefined });
  }

  count(count = this.users.size, status = ''): void {
    this.history.add({ kind: 'count', instance: 1, begin: this.now(), end: this.now(), status, count });
  }

  walk(users = [...this.users.keys()]): void {
    this.history.add({ kind: 'walk', how: 'cursor', instance: 0, begin: this.now(), end: this.now(), users });
  }

  /** Records a new session of a user, or a new API key without a user. */
  issue(owner = ''): string {
    const credential = this.createId();
    const call = this.call();
    this.row(call, owner === '' ? 'api_key' : 'session', 'created', credential);
    const name = owner === '' ? `name of ${credential}` : '';
    if (name !== '') this.keys.push(name);
    this.history.add({ kind: 'issue', call, credential, owner, name });
    return credential;
  }

  end(credential: string, kind: 'session' | 'api_key' = 'session'): void {
    const call = this.call();
    this.row(call, kind, kind === 'session' ? 'ended' : 'revoked', credential);
    this.history.add({ kind: 'end', call, credential, owner: undefined });
  }

  use(credential: string, accepted: boolean): void {
    this.history.add({ kind: 'use', credential, instance: 1, begin: this.now(), end: this.now(), accepted });
  }

  toFinalState(): FinalState {
    const users = [...this.users.keys()].map((uuid) => ({ uuid, fields: this.fieldsOf(uuid) ?? {} }));
    const count = (status: string): number =>
      users.filter(({ fields }) => fields['status'] === status).length;
    const seen = Array.from({ length: this.instances }, (_, instance): InstanceState => {
      const counts = { '': users.length, Active: count('Active'), Blocked: count('Blocked') };
      return { instance, users: [...users], byOffset: users.map(({ uuid }) => uuid), counts };
    });
    return { seen, audit: this.audit, runs: [], lookups: [], keys: [...this.keys] };
  }

  /** Returns the promises that the checks find broken, without repetitions. */
  findBroken(final = this.toFinalState()): string[] {
    return [...new Set(checkHistory(this.history, final).map(({ promise }) => promise))];
  }

  fieldsOf(user: string): Fields | undefined {
    const own = this.users.get(user);
    return own && Object.fromEntries(TRACKED.map((field) => [field, normalize(own[field])]));
  }

  private log(call: Call, action: string, user: string, before: Fields, after: Fields): void {
    const changes = Object.entries(after).map(([field, value]) => ({
      field,
      old: before[field] ?? null,
      new: value,
    }));
    this.audit.push({ ...this.head(call), action, target: { kind: 'user', id: user }, changes });
  }

  private row(call: Call, kind: string, what: string, id: string): void {
    this.audit.push({ ...this.head(call), action: `${kind}.${what}`, target: { kind, id }, changes: [] });
  }

  private head(call: Call): Pick<AuditRow, 'id' | 'actor' | 'request_id'> {
    return {
      id: this.createId(),
      actor: { kind: 'key', id: null },
      request_id: call.attempts.at(-1)?.id ?? '',
    };
  }
}
