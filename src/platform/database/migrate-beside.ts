import { fork } from 'node:child_process';
import { once } from 'node:events';
import { isObject } from '../common/json.js';
import { ownFlags } from './engine/lane-process.js';

/** Why the schema cannot be used, as the process that looks at it reports it. */
export interface Refusal {
  refusal: string;
}

/**
 * `migrateAtStart` in a process of its own: the service uses TypeORM for nothing else, and would keep its code and tables
 * in memory for as long as it runs.
 * @throws Error with the message of `migrateAtStart`, or how the process has ended.
 */
export async function migrateBeside(program: string): Promise<void> {
  // Not the streams of this process: Node.js would make them blocking when the child ends, and so the log of the service.
  const child = fork(program, { execArgv: ownFlags(), stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
  child.stderr?.on('data', (chunk: Buffer) => process.stderr.write(chunk));
  let refusal: string | undefined;
  child.on('message', (message: unknown) => {
    if (isRefusal(message)) ({ refusal } = message);
  });
  // What it has sent is read before its channel is closed.
  const [[code, signal]] = (await Promise.all([once(child, 'exit'), once(child, 'disconnect')])) as [
    (number | string | null)[],
    unknown,
  ];
  if (code === 0) return;
  throw new Error(refusal ?? `The process that migrates the database ended with ${String(signal ?? code)}.`);
}

const isRefusal = (message: unknown): message is Refusal =>
  isObject(message) && typeof message['refusal'] === 'string';
