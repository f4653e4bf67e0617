import { Injectable } from '@nestjs/common';
import { spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { errorCode } from '../../platform/common/errors.js';
import { Env, EnvError } from '../../platform/config/env.js';

/** An import waits for a decision, or none has completed for too long. */
export type AlertType = 'import.needs_approval' | 'import.overdue';

/** One alert. Its receiver knows a repetition by `id`. */
export interface Alert {
  id: string;
  type: AlertType;
  /** JSON without personal data: no name, no cell and no example of a guard. */
  body: string;
}

/** A receiver that takes longer has not taken it. */
const TIMEOUT_MILLIS = 10_000;
const SECRET_PREFIX = 'whsec_';

/** An alert was not taken: why, without anything that the receiver has sent. */
export class NotTaken extends Error {}

/**
 * Hands an alert over: as one POST to NOTIFY_URL, signed as in the Standard Webhooks specification, and on the standard input
 * of NOTIFY_COMMAND, which is started without a shell and sees none of the settings of the service.
 */
@Injectable()
export class AlertSender {
  private readonly key: Buffer | undefined;

  constructor(private readonly env: Env) {
    const { NOTIFY_URL, NOTIFY_SECRET } = env;
    if (NOTIFY_URL !== undefined && NOTIFY_SECRET === undefined)
      throw new EnvError('NOTIFY_SECRET is missing: what is sent to NOTIFY_URL is signed with it.');
    this.key =
      NOTIFY_SECRET === undefined
        ? undefined
        : Buffer.from(NOTIFY_SECRET.slice(SECRET_PREFIX.length), 'base64');
  }

  /** Whether there is anybody to tell. */
  get isOn(): boolean {
    return this.env.NOTIFY_URL !== undefined || this.env.NOTIFY_COMMAND !== undefined;
  }

  /** @throws NotTaken; the signal's reason when it is aborted. */
  async send(alert: Alert, signal: AbortSignal): Promise<void> {
    const { NOTIFY_URL: url, NOTIFY_COMMAND: command } = this.env;
    const bounded = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MILLIS)]);
    if (url !== undefined && this.key) await post(url, this.key, alert, bounded);
    if (command !== undefined) await run(command, alert, bounded);
  }
}

async function post(url: string, key: Buffer, { id, body }: Alert, signal: AbortSignal): Promise<void> {
  const timestamp = String(Math.floor(Date.now() / 1000));
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  const headers = {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${signature}`,
  };
  try {
    // A redirect would send what is signed for one address to another one.
    const answer = await fetch(url, { method: 'POST', headers, body, redirect: 'manual', signal });
    await answer.body?.cancel();
    if (!answer.ok) throw new NotTaken(`NOTIFY_URL answered ${answer.status}`);
  } catch (error) {
    throw error instanceof NotTaken ? error : new NotTaken(`NOTIFY_URL: ${reasonOf(error)}`);
  }
}

async function run(command: string, { type, body }: Alert, signal: AbortSignal): Promise<void> {
  const env = { PATH: process.env['PATH'], ROLLCALL_EVENT: type };
  const child = spawn(command, [], {
    env,
    stdio: ['pipe', 'ignore', 'ignore'],
    signal,
    killSignal: 'SIGKILL',
  });
  child.stdin.on('error', () => undefined); // of a command that does not read; its exit code has the say
  child.stdin.end(body);
  try {
    const [code, ended] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
    if (code !== 0) throw new NotTaken(`NOTIFY_COMMAND ended with ${code ?? ended ?? 'nothing'}`);
  } catch (error) {
    throw error instanceof NotTaken ? error : new NotTaken(`NOTIFY_COMMAND: ${reasonOf(error)}`);
  }
}

/** Of `fetch`, the code is that of the cause. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  return errorCode(cause) ?? (cause instanceof Error ? cause.name : 'error');
}
