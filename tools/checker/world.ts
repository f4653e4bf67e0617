import { oneOf } from '../../test/support/data/random.js';
import type { Attempt, Call, Fields, History, Read } from './history.js';
import type { Answer, Json, Question, Sender, Told } from './sender.js';

export const API = '/api/0.3';

/** Fields of users that the checker tracks. */
export const FOLLOWED = 'username email external_id roles status phone known_as manager_uuid about_me'.split(
  ' ',
);

/** Converts all empty values to null. The API shows `""` and `null`, and the audit may show either. */
export function plain(value: unknown): unknown {
  if (value === undefined || value === null || value === '') return null;
  return Array.isArray(value) && value.length === 0 ? null : value;
}

/** Returns a text value, or an empty string for other types. */
export const text = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Returns the number at the start of `about_me`, which counts the writes of a user. */
export const numberOf = (value: unknown): number => Number(text(value).split(' ')[0]);

export const same = (a: unknown, b: unknown): boolean =>
  JSON.stringify(plain(a)) === JSON.stringify(plain(b));

/** Returns the tracked fields of a user. */
export const followed = (user: Json): Fields =>
  Object.fromEntries(FOLLOWED.map((field) => [field, plain(user[field])]));

/** A user as read by a request that began at `begin`. */
export interface Shown {
  etag: string;
  fields: Fields;
  begin: number;
}

/** The environment of one client: its requests, its unique values and its random choices. */
export class World {
  private tokens = 0;

  constructor(
    readonly sender: Sender,
    readonly history: History,
    readonly random: (below: number) => number,
    /** Unique name of the client among all clients and runs. */
    private readonly name: string,
  ) {}

  /** Returns the index of a random instance. */
  any(): number {
    return this.random(this.sender.instances);
  }

  tell(question: Question): Promise<Told> {
    return this.sender.tell(this.name, { instance: this.any(), ...question });
  }

  ask(question: Question): Promise<[Answer, Attempt]> {
    return this.sender.ask({ instance: this.any(), ...question });
  }

  /** Returns a value that is unique in this run. */
  token(): string {
    return `${this.name}-${this.tokens++}`;
  }

  pick<T>(list: readonly T[]): T {
    return oneOf(this.random, list);
  }

  chance(percent: number): boolean {
    return this.random(100) < percent;
  }

  /**
   * Creates a user with a unique name and the given fields.
   * @returns the UUID, or an empty string if the response has none.
   */
  async create(fields: Fields = {}): Promise<string> {
    const name = this.token();
    const body = { username: name, email: `${name}@example.org`, ...fields };
    const { answer, call } = await this.tell({ method: 'POST', path: `${API}/users`, body });
    const user = call.effect === 'done' && typeof answer.body['uuid'] === 'string' ? answer.body['uuid'] : '';
    this.history.add({ kind: 'create', call, user, fields: body });
    return user;
  }

  /** Creates a user that a run needs. Repeats the request until it succeeds. */
  async created(fields: Fields = {}): Promise<string> {
    for (let attempt = 0; attempt < 20; attempt++) {
      const user = await this.create(fields);
      if (user !== '') return user;
    }
    throw new Error('creating a user failed 20 times');
  }

  /**
   * Changes a user.
   * @param options.instance the instance to use. Default: a random one.
   * @param options.seen the user as read. Its ETag is sent in `If-Match`.
   */
  async change(
    user: string,
    fields: Fields,
    options: { instance?: number; seen?: Shown } = {},
  ): Promise<Told> {
    const { instance, seen } = options;
    const told = await this.tell({
      method: 'PUT',
      path: `${API}/users/${user}`,
      body: fields,
      ...(instance !== undefined && { instance }),
      ...(seen && { headers: { 'if-match': seen.etag } }),
    });
    this.history.add({ kind: 'change', call: told.call, user, fields, ...(seen && { seen }) });
    return told;
  }

  /** Reads a user and records the result. @returns undefined without a response or without a user. */
  async read(user: string): Promise<Shown | undefined> {
    const instance = this.any();
    const path = `${API}/users/${user}`;
    const [{ status, body, headers }, { begin, end }] = await this.ask({ method: 'GET', path, instance });
    if (status !== 200 && status !== 404) return undefined;
    const fields = status === 200 ? followed(body) : undefined;
    this.history.add({ kind: 'read', user, instance, begin, end, fields });
    return fields && { etag: headers.etag ?? '', fields, begin };
  }

  /** Searches users and records a read of each user on the page. @returns undefined if the request failed. */
  async search(
    query: string,
    instance = this.any(),
  ): Promise<{ answer: Answer; users: Json[]; begin: number; end: number } | undefined> {
    const path = query.startsWith('/') ? query : `${API}/users/search?${query}`;
    const [answer, { begin, end }] = await this.ask({ method: 'GET', path, instance });
    if (answer.status !== 200) return undefined;
    const users = (answer.body['Results'] ?? []) as Json[];
    for (const user of users) this.history.add(readOf(user, instance, begin, end));
    return { answer, users, begin, end };
  }

  /** Sends a request with a credential and records whether it was accepted. Only 200 and 401 are recorded. */
  async use(credential: string, headers: Record<string, string>, instance = this.any()): Promise<void> {
    const path = `${API}/users/search?limit=1`;
    const [{ status }, { begin, end }] = await this.ask({ method: 'GET', path, headers, instance });
    if (status !== 200 && status !== 401) return;
    this.history.add({ kind: 'use', credential, instance, begin, end, accepted: status === 200 });
  }

  /** Uses a credential on every instance. */
  async useEverywhere(credential: string, headers: Record<string, string>): Promise<void> {
    const all = Array.from({ length: this.sender.instances }, (_, instance) => instance);
    await Promise.all(all.map((instance) => this.use(credential, headers, instance)));
  }
}

const readOf = (user: Json, instance: number, begin: number, end: number): Read => {
  return { kind: 'read', user: String(user['uuid']), instance, begin, end, fields: followed(user) };
};

export const isDone = (call: Call): boolean => call.effect === 'done';
