import { pickOne } from '../../test/support/data/random.js';
import type { Attempt, Call, Fields, History, Read } from './history.js';
import type { Answer, Json, HttpRequest, Sender, CallResult } from './sender.js';

export const API = '/api/0.3';

/** Fields of users that the checker tracks. */
export const TRACKED = 'username email external_id roles status phone known_as manager_uuid about_me'.split(
  ' ',
);

/** Converts all empty values to null. The API shows `""` and `null`, and the audit may show either. */
export function normalize(value: unknown): unknown {
  if (value === undefined || value === null || value === '') return null;
  return Array.isArray(value) && value.length === 0 ? null : value;
}

/** Returns a text value, or an empty string for other types. */
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Returns the number at the start of `about_me`, which counts the writes of a user. */
export const numberOf = (value: unknown): number => Number(textOf(value).split(' ')[0]);

export const isSame = (a: unknown, b: unknown): boolean =>
  JSON.stringify(normalize(a)) === JSON.stringify(normalize(b));

/** Returns the tracked fields of a user. */
export const trackedOf = (user: Json): Fields =>
  Object.fromEntries(TRACKED.map((field) => [field, normalize(user[field])]));

/** A user as read by a request that began at `begin`. */
export interface Shown {
  etag: string;
  fields: Fields;
  begin: number;
}

/** The environment of one client: its requests, its unique values and its random choices. */
export class ClientContext {
  private tokens = 0;

  constructor(
    readonly sender: Sender,
    readonly history: History,
    readonly random: (below: number) => number,
    /** Unique name of the client among all clients and runs. */
    private readonly name: string,
  ) {}

  /** Returns the index of a random instance. */
  pickInstance(): number {
    return this.random(this.sender.instances);
  }

  call(question: HttpRequest): Promise<CallResult> {
    return this.sender.call(this.name, { instance: this.pickInstance(), ...question });
  }

  send(question: HttpRequest): Promise<[Answer, Attempt]> {
    return this.sender.send({ instance: this.pickInstance(), ...question });
  }

  /** Returns a value that is unique in this run. */
  createToken(): string {
    return `${this.name}-${this.tokens++}`;
  }

  pick<T>(list: readonly T[]): T {
    return pickOne(this.random, list);
  }

  hasChance(percent: number): boolean {
    return this.random(100) < percent;
  }

  /**
   * Creates a user with a unique name and the given fields.
   * @returns the UUID, or an empty string if the response has none.
   */
  async create(fields: Fields = {}): Promise<string> {
    const name = this.createToken();
    const body = { username: name, email: `${name}@example.org`, ...fields };
    const { answer, call } = await this.call({ method: 'POST', path: `${API}/users`, body });
    const user = call.effect === 'done' && typeof answer.body['uuid'] === 'string' ? answer.body['uuid'] : '';
    this.history.add({ kind: 'create', call, user, fields: body });
    return user;
  }

  /** Creates a user that a run needs. Repeats the request until it succeeds. */
  async createReliably(fields: Fields = {}): Promise<string> {
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
  ): Promise<CallResult> {
    const { instance, seen } = options;
    const told = await this.call({
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
    const instance = this.pickInstance();
    const path = `${API}/users/${user}`;
    const [{ status, body, headers }, { begin, end }] = await this.send({ method: 'GET', path, instance });
    if (status !== 200 && status !== 404) return undefined;
    const fields = status === 200 ? trackedOf(body) : undefined;
    this.history.add({ kind: 'read', user, instance, begin, end, fields });
    return fields && { etag: headers.etag ?? '', fields, begin };
  }

  /** Searches users and records a read of each user on the page. @returns undefined if the request failed. */
  async search(
    query: string,
    instance = this.pickInstance(),
  ): Promise<{ answer: Answer; users: Json[]; begin: number; end: number } | undefined> {
    const path = query.startsWith('/') ? query : `${API}/users/search?${query}`;
    const [answer, { begin, end }] = await this.send({ method: 'GET', path, instance });
    if (answer.status !== 200) return undefined;
    const users = (answer.body['Results'] ?? []) as Json[];
    for (const user of users) this.history.add(toRead(user, instance, begin, end));
    return { answer, users, begin, end };
  }

  /** Sends a request with a credential and records whether it was accepted. Only 200 and 401 are recorded. */
  async use(
    credential: string,
    headers: Record<string, string>,
    instance = this.pickInstance(),
  ): Promise<void> {
    const path = `${API}/users/search?limit=1`;
    const [{ status }, { begin, end }] = await this.send({ method: 'GET', path, headers, instance });
    if (status !== 200 && status !== 401) return;
    this.history.add({ kind: 'use', credential, instance, begin, end, accepted: status === 200 });
  }

  /** Uses a credential on every instance. */
  async useEverywhere(credential: string, headers: Record<string, string>): Promise<void> {
    const all = Array.from({ length: this.sender.instances }, (_, instance) => instance);
    await Promise.all(all.map((instance) => this.use(credential, headers, instance)));
  }
}

const toRead = (user: Json, instance: number, begin: number, end: number): Read => {
  return { kind: 'read', user: String(user['uuid']), instance, begin, end, fields: trackedOf(user) };
};

export const isDone = (call: Call): boolean => call.effect === 'done';
