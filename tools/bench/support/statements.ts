/** Where a value of a recorded statement comes from when the statement is repeated for another request. */
export type Param =
  | { constant: string | number | null }
  /** Text that contains forms of the number (by their index in the list) and the serial number after them. */
  | { text: (string | number)[] }
  /** The number itself. */
  | { number: true }
  /** SHA-256 of the key that was sent. */
  | { keyHash: true }
  /** A new UUID in place of this one, the same throughout one request. */
  | { fresh: string }
  | { now: true };

/** A statement that the service sends for a request; `BEGIN` and `COMMIT` delimit its transaction. */
export interface Statement {
  sql: string;
  params: Param[];
}

/** The answer of a floor: the row or rows that it read last, or rows and their number. */
export type AnswerForm = 'row' | 'page';

/** Everything that a floor needs. */
export interface FloorPlan {
  url: string;
  port: number;
  framework: 'node:http' | 'express';
  answer: AnswerForm;
  statements: Statement[];
}
