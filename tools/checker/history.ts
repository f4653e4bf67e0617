/** Milliseconds of one monotonic clock: every client of a check lives in one process, so the order of times is real. */
export type Millis = number;

/** One HTTP request. Its id is the `X-Request-Id`, which audit rows carry. */
export interface Attempt {
  id: string;
  instance: number;
  begin: Millis;
  end: Millis;
  /** 0: no answer. */
  status: number;
  /** Of the problem, or of the broken connection. */
  code: string;
}

/**
 * What a client knows of the effect of a request, or of several under one `Idempotency-Key`: done; none (refused, or never
 * sent); unknown (no answer, or one that says so).
 */
export type Effect = 'done' | 'none' | 'unknown';

export interface Call {
  client: string;
  method: string;
  path: string;
  attempts: Attempt[];
  begin: Millis;
  /** Infinity where the effect is unknown: it may still come. */
  end: Millis;
  effect: Effect;
  keyed: boolean;
}

/** The fields of a user that the checker writes and reads, as the API shows them. */
export type Fields = Readonly<Record<string, unknown>>;

export interface Create {
  kind: 'create';
  call: Call;
  /** Of the answer; '' when there was none. */
  user: string;
  fields: Fields;
}

export interface Change {
  kind: 'change';
  call: Call;
  user: string;
  fields: Fields;
  /** What the client had read, and when it asked, where it sent `If-Match`. */
  seen?: { fields: Fields; begin: Millis };
}

export interface Read {
  kind: 'read';
  user: string;
  instance: number;
  begin: Millis;
  end: Millis;
  /** undefined: 404. */
  fields: Fields | undefined;
}

interface Counted {
  kind: 'count';
  instance: number;
  begin: Millis;
  end: Millis;
  /** '': all users. */
  status: string;
  count: number;
}

interface Walk {
  kind: 'walk';
  how: 'cursor' | 'offset';
  instance: number;
  begin: Millis;
  end: Millis;
  users: string[];
}

/** A session or an API key, from the answer that handed it out. */
export interface Issue {
  kind: 'issue';
  call: Call;
  credential: string;
  /** The user of a session; '' for a key. */
  owner: string;
  /** Of a key, which no other key has; '' for a session. */
  name: string;
}

/** Ends one credential, or all sessions of a user. */
export interface End {
  kind: 'end';
  call: Call;
  credential: string | undefined;
  owner: string | undefined;
}

export interface Use {
  kind: 'use';
  credential: string;
  instance: number;
  begin: Millis;
  end: Millis;
  accepted: boolean;
}

/** An upload of a CSV file with a name of its own. */
export interface Upload {
  kind: 'upload';
  call: Call;
  file: string;
  /** By external id: what each row sets. */
  rows: ReadonlyMap<string, Fields>;
  /** External ids of the rows that create a user. */
  fresh: readonly string[];
  /** External ids of the rows that change one. */
  changed: readonly string[];
  /** When a client first saw the run completed; Infinity when none did. */
  completed: Millis;
}

export type Entry = Create | Change | Read | Counted | Walk | Issue | End | Use | Upload;
type Kind = Entry['kind'];

/** What clients did and saw, in the order of their ends. */
export class History {
  readonly entries: Entry[] = [];
  /** Every request that was sent, reads too. */
  readonly attempts: Attempt[] = [];

  add<E extends Entry>(entry: E): E {
    this.entries.push(entry);
    return entry;
  }

  of<K extends Kind>(kind: K): Extract<Entry, { kind: K }>[] {
    return this.entries.filter((entry): entry is Extract<Entry, { kind: K }> => entry.kind === kind);
  }
}

/** A promise that was not kept. */
export interface Broken {
  promise: string;
  text: string;
}
