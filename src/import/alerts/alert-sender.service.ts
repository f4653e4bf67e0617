import { Injectable } from '@nestjs/common';
import { spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { errorCodeOf } from '../../platform/common/errors.js';
import { Env, EnvError } from '../../platform/config/env.js';

export type AlertType =
  'import.needs_approval' | 'import.failed' | 'import.cancelled' | 'import.overdue' | 'import.folder_lost';

/**
 * An alert for operators. An alert that is sent again keeps its `id`, so that the receiver can recognize the
 * repetition.
 */
export interface Alert {
  id: string;
  type: AlertType;
  /** The alert as JSON. It contains no personal data, such as cells or example rows. */
  body: string;
}

const TIMEOUT_MILLIS = 10_000;
const SECRET_PREFIX = 'whsec_';

/** Thrown if a delivery fails. The message gives the reason and never contains data from the receiver. */
export class AlertError extends Error {}

/**
 * Sender of alerts. Sends a POST request to NOTIFY_URL, signed as in the Standard Webhooks specification. Runs
 * NOTIFY_COMMAND, without a shell and without the settings of the service, with the alert on standard input.
 */
@Injectable()
export class AlertSender {
  constructor(private readonly env: Env) {
    const { NOTIFY_URL, NOTIFY_SECRET } = env;
    if (NOTIFY_URL !== undefined && NOTIFY_SECRET === undefined)
      throw new EnvError('NOTIFY_SECRET is missing. Set it to sign the alerts to NOTIFY_URL.');
  }

  get isEnabled(): boolean {
    return this.env.NOTIFY_URL !== undefined || this.env.NOTIFY_COMMAND !== undefined;
  }

  /** Sends an alert to all receivers. @throws AlertError if a delivery fails or `signal` is aborted. */
  async send(alert: Alert, signal: AbortSignal): Promise<void> {
    const { NOTIFY_URL: url, NOTIFY_SECRET: secret, NOTIFY_COMMAND: command } = this.env;
    const bounded = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MILLIS)]);
    if (url !== undefined && secret !== undefined)
      await postToUrl(url, toKey(secret), alert, bounded).catch(createErrorHandler('NOTIFY_URL'));
    if (command !== undefined)
      await runCommand(command, alert, bounded).catch(createErrorHandler('NOTIFY_COMMAND'));
  }
}

const toKey = (secret: string): Buffer => Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64');

async function postToUrl(url: string, key: Buffer, { id, body }: Alert, signal: AbortSignal): Promise<void> {
  const timestamp = String(Math.floor(Date.now() / 1000));
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  const headers = {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${signature}`,
  };
  // Do not follow redirects: the alert is signed for this receiver only.
  const answer = await fetch(url, { method: 'POST', headers, body, redirect: 'manual', signal });
  await answer.body?.cancel();
  if (!answer.ok) throw new AlertError(`NOTIFY_URL responded with status ${answer.status}`);
}

async function runCommand(command: string, { type, body }: Alert, signal: AbortSignal): Promise<void> {
  const env = { PATH: process.env['PATH'], ROLLCALL_EVENT: type };
  const child = spawn(command, [], {
    env,
    stdio: ['pipe', 'ignore', 'ignore'],
    signal,
    killSignal: 'SIGKILL',
    detached: true, // a signal from the terminal of the service must not make the command fail
  });
  // A command need not read its input, so ignore errors here. Only its exit code counts.
  child.stdin.on('error', () => undefined);
  child.stdin.end(body);
  const [code, ended] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
  if (code !== 0) throw new AlertError(`NOTIFY_COMMAND failed with ${code ?? ended ?? 'no code'}`);
}

/** Throws an AlertError with the code or the name of an error. Errors of `fetch` have the code in their cause. */
const createErrorHandler = (setting: string) => (error: unknown) => {
  if (error instanceof AlertError) throw error;
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  throw new AlertError(
    `${setting}: ${errorCodeOf(cause) ?? (cause instanceof Error ? cause.name : 'error')}`,
  );
};
