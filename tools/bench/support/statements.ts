/** Source of a value when a recorded statement is repeated for another request. */
export type Param =
  | { constant: string | number | null }
  /** Text with forms of the number, by their index in the list. The serial number is the last form. */
  | { text: (string | number)[] }
  /** The number of the user. */
  | { number: true }
  /** SHA-256 of the API key that was sent. */
  | { keyHash: true }
  /** A new UUID that replaces this one, the same throughout one request. */
  | { fresh: string }
  | { now: true };

/** A statement that the service sends for a request. `BEGIN` and `COMMIT` delimit its transaction. */
export interface Statement {
  sql: string;
  params: Param[];
}

/** Response of a baseline: the last row that it read, or a page of rows with their number. */
export type ResponseForm = 'row' | 'page';

/** Everything that a baseline server needs. */
export interface BaselinePlan {
  url: string;
  port: number;
  framework: 'node:http' | 'express';
  answer: ResponseForm;
  statements: Statement[];
}
