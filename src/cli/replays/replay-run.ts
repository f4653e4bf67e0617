import { randomBytes } from 'node:crypto';
import { errorCodeOf, messageOf } from '../../platform/common/errors.js';
import { type JsonObject, isObject, tryParseJson } from '../../platform/common/json.js';
import { toServiceUrl } from '../service-client.js';
import type { Json, Step } from './provider-steps.js';

const TIMEOUT_MILLIS = 30_000;
const PLACEHOLDER = /\{(\w+)\}/g;
const NAME_ATTRIBUTES = { Users: 'userName', Groups: 'displayName' };

/** Replays the requests of an identity provider against a service, and compares the responses with the expected ones. */
export class ReplayRun {
  /** Prefix of the names of all created users and groups. `isTemporary` recognizes it. */
  readonly name = `doctor-${randomBytes(6).toString('hex')}`;
  private readonly base = toServiceUrl(this.url, 'scim/v2').href;
  /** Maps the names of placeholders, such as `user`, to their values. */
  private readonly known = new Map([['name', this.name]]);

  /** Created resources that could not be deleted at the end, each with the reason. */
  readonly remaining: string[] = [];

  /** @param url address of the service. @throws Error for an invalid address. */
  constructor(
    private readonly url: string,
    private readonly key: string,
  ) {}

  /**
   * Runs the steps and yields each result, whose `problem` is absent if the step passed. At the end, deletes all
   * resources with the name of this run, even if the caller stops early or a response was lost.
   * @throws Error before the first step if no service answers, or if it refuses the API key.
   */
  async *runSteps(steps: readonly Step[]): AsyncGenerator<{ step: Step; problem?: string }> {
    await this.request(200, 'GET', '/ServiceProviderConfig').catch((error: unknown) => {
      throw new Error(`Cannot use ${this.base}: ${messageOf(error)}. Check --url and --key.`);
    });
    try {
      for (const step of steps) {
        const problem = await this.runStep(step).catch(messageOf);
        yield problem === undefined ? { step } : { step, problem };
      }
    } finally {
      await this.cleanUp();
    }
  }

  private async runStep(template: Step): Promise<string | undefined> {
    const text = JSON.stringify(template).replace(
      PLACEHOLDER,
      (placeholder, name: string) => this.known.get(name) ?? placeholder,
    );
    const [missing] = [...text.matchAll(PLACEHOLDER)].map(([, name]) => name);
    if (missing !== undefined) return `not sent: an earlier step did not create the ${missing}`;
    const { method, path, body, status, answer = {}, creates } = JSON.parse(text) as Step;
    const actual = await this.request(status, method, path, body);
    if (creates && isObject(actual)) this.known.set(creates, String(actual['id']));
    return findDifference(answer, actual ?? {});
  }

  private async cleanUp(): Promise<void> {
    for (const [type, attribute] of Object.entries(NAME_ATTRIBUTES)) {
      try {
        const found = await this.request(200, 'GET', `/${type}?filter=${attribute} sw "${this.name}"`);
        const list = isObject(found) ? found['Resources'] : undefined;
        for (const each of Array.isArray(list) ? list : [])
          if (isObject(each)) await this.delete(`/${type}/${String(each['id'])}`);
      } catch (error) {
        this.remaining.push(`the ${type} whose name begins with ${this.name} (${messageOf(error)})`);
      }
    }
  }

  private async delete(path: string): Promise<void> {
    await this.request(204, 'DELETE', path).catch((error: unknown) => {
      this.remaining.push(`${path} (${messageOf(error)})`);
    });
  }

  /**
   * Sends a request.
   * @returns the body of the response, or undefined if the body is not JSON.
   * @throws Error if there is no response, or if it has a different status.
   */
  private async request(status: number, method: string, path: string, sent?: Json): Promise<unknown> {
    const response = await fetch(new URL(this.base + path), {
      method,
      headers: { authorization: `Bearer ${this.key}`, 'content-type': 'application/scim+json' },
      redirect: 'error',
      signal: AbortSignal.timeout(TIMEOUT_MILLIS),
      ...(sent !== undefined && { body: JSON.stringify(sent) }),
    }).catch((error: unknown) => {
      const cause = error instanceof Error ? error.cause : undefined;
      throw new Error(`no response (${errorCodeOf(cause) ?? messageOf(error)})`);
    });
    const body = tryParseJson(await response.text());
    if (response.status === status) return body;
    const detail = isObject(body) ? body['detail'] : undefined;
    const reason = typeof detail === 'string' ? `: ${detail.replace(/\.$/, '')}` : '';
    throw new Error(`status ${response.status} instead of ${status}${reason}`);
  }
}

/**
 * Describes the first difference between the expected and the actual value, or returns undefined if the values match.
 * The rules are in `Step.answer`.
 */
function findDifference(expected: Json, actual: unknown, path = ''): string | undefined {
  if (expected === null) return actual === undefined ? undefined : `${path} is present`;
  if (typeof expected !== 'object') {
    if (expected === actual) return undefined;
    const found = actual === undefined ? 'absent' : JSON.stringify(actual);
    return `${path} is ${found} instead of ${JSON.stringify(expected)}`;
  }
  const isList = Array.isArray(expected);
  if (typeof actual !== 'object' || actual === null || Array.isArray(actual) !== isList)
    return `${path || 'the response'} is not ${isList ? 'a list' : 'an object'}`;
  const members = Object.entries<Json>(expected);
  if (isList) members.push(['length', expected.length]);
  for (const [name, each] of members) {
    const difference = findDifference(each, (actual as JsonObject)[name], path ? `${path}.${name}` : name);
    if (difference !== undefined) return difference;
  }
  return undefined;
}
