/** Milliseconds of one monotonic clock. All clients run in one process, so the order of times is reliable. */
export type Millis = number;

/** Instance that answered, and the time of the requests. */
interface Span {
  instance: number;
  begin: Millis;
  end: Millis;
}

/** One HTTP request. Its id is the `X-Request-Id`, which audit rows contain. */
export interface Attempt extends Span {
  id: string;
  /** Status of the response, 0 without a response. */
  status: number;
  /** Code of the problem or of the connection error. */
  code: string;
}

/**
 * Effect of a request, or of several requests with one `Idempotency-Key`, as the client knows it. `none` means that it
 * was refused or never sent, `unknown` that there was no response or one with an unknown outcome.
 */
export type Effect = 'done' | 'none' | 'unknown';

export interface Call {
  client: string;
  method: string;
  path: string;
  attempts: Attempt[];
  begin: Millis;
  /** Infinity if the effect is unknown, because it may still happen. */
  end: Millis;
  effect: Effect;
  keyed: boolean;
}

/** Fields of a user that the checker writes and reads, as the API shows them. */
export type Fields = Readonly<Record<string, unknown>>;

export interface Create {
  kind: 'create';
  call: Call;
  /** UUID from the response, or an empty string without a response. */
  user: string;
  fields: Fields;
}

export interface Change {
  kind: 'change';
  call: Call;
  user: string;
  fields: Fields;
  /** Fields and time of the read whose ETag was sent in `If-Match`. */
  seen?: { fields: Fields; begin: Millis };
}

export interface Read extends Span {
  kind: 'read';
  user: string;
  /** Fields of the user, undefined for a 404. */
  fields: Fields | undefined;
}

interface Counted extends Span {
  kind: 'count';
  /** Status filter, empty for all users. */
  status: string;
  count: number;
}

interface Walk extends Span {
  kind: 'walk';
  how: 'cursor' | 'offset';
  users: string[];
}

/** A session or an API key that a response returned. */
export interface Issue {
  kind: 'issue';
  call: Call;
  credential: string;
  /** User of a session, empty for a key. */
  owner: string;
  /** Unique name of a key, empty for a session. */
  name: string;
}

/** A request that ends one credential, or all sessions of a user. */
export interface End {
  kind: 'end';
  call: Call;
  credential: string | undefined;
  owner: string | undefined;
}

export interface Use extends Span {
  kind: 'use';
  credential: string;
  accepted: boolean;
}

/** An upload of a CSV file with a unique name. */
export interface Upload {
  kind: 'upload';
  call: Call;
  file: string;
  /** Fields that each row sets, by external id. */
  rows: ReadonlyMap<string, Fields>;
  /** External ids of the rows that create a user. */
  fresh: readonly string[];
  /** External ids of the rows that change a user. */
  changed: readonly string[];
  /** Time when a client first saw the run completed, or Infinity. */
  completed: Millis;
}

export type Entry = Create | Change | Read | Counted | Walk | Issue | End | Use | Upload;
type Kind = Entry['kind'];

/** Requests and results of all clients, in the order in which they ended. */
export class History {
  readonly entries: Entry[] = [];
  /** Every request that was sent, including reads. */
  readonly attempts: Attempt[] = [];

  add<E extends Entry>(entry: E): E {
    this.entries.push(entry);
    return entry;
  }

  filter<K extends Kind>(kind: K): Extract<Entry, { kind: K }>[] {
    return this.entries.filter((entry): entry is Extract<Entry, { kind: K }> => entry.kind === kind);
  }
}

/** A broken promise of the service. */
export interface Violation {
  promise: string;
  text: string;
}
