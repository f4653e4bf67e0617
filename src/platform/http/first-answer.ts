/** An answer as it went out. */
export interface SentAnswer {
  status: number;
  headers: Readonly<Record<string, string | string[]>>;
  /** JSON, or nothing. */
  body: string;
}

/** Thrown where a request turns out to be a repetition: `ErrorFilter` answers it as it was answered before. */
export class FirstAnswer extends Error {
  constructor(readonly answer: SentAnswer) {
    super('This request has been answered before.');
    this.name = 'FirstAnswer';
  }
}

/** Tells a client that this is the answer to an earlier request with its `Idempotency-Key`. */
export const REPLAYED = 'Idempotency-Replayed';
