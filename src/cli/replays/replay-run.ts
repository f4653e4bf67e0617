import { randomBytes } from 'node:crypto';
import { errorCodeOf, messageOf } from '../../platform/common/errors.js';
import { isObject } from '../../platform/common/json.js';
import { toServiceUrl } from '../service-client.js';
import { RESOURCE_PATHS, type Step, type Json, isList } from './replay.js';

const TIMEOUT_MILLIS = 30_000;
const PLACEHOLDER = /\{(\w+)\}/g;

/** Replays the requests of an identity provider against a service, and compares the responses with the expected ones. */
export class ReplayRun {
  /** Prefix of the names of all created users and groups. `isTemporary` recognizes it. */
  readonly name = `doctor-${randomBytes(6).toString('hex')}`;
  private readonly base = toServiceUrl(this.url, 'scim/v2').href;
  /** Maps the names of placeholders, such as `user`, to their values. */
  private readonly known = new Map([['name', this.name]]);

  /** Paths of created resources that could not be deleted at the end, each with the reason. */
  readonly remaining: string[] = [];

  /** @param url address of the service. @throws Error for an invalid address. */
  constructor(
    private readonly url: string,
    private readonly key: string,
  ) {}

  /**
   * Runs the steps and yields each result, whose `problem` is absent if the step passed. At the end, deletes all
   * resources with the name of this run, even if the caller stops early or a response was lost.
   * @throws Error before the first step if no service answers.
   */
  async *runSteps(steps: readonly Step[]): AsyncGenerator<{ step: Step; problem?: string }> {
    await this.send('GET', '/ServiceProviderConfig').catch((error: unknown) => {
      throw new Error(`${this.base} gives ${reasonOf(error)}. Check --url.`);
    });
    try {
      for (const step of steps) {
        const problem = await this.runStep(step).catch((error: unknown) => reasonOf(error));
        yield problem === undefined ? { step } : { step, problem };
      }
    } finally {
      await this.cleanUp();
    }
  }

  private async runStep(step: Step): Promise<string | undefined> {
    const missing = this.findUnknownPlaceholder(step);
    if (missing !== undefined) return `not sent: an earlier step did not create the ${missing}`;
    const { status, body } = await this.send(step.method, this.fillText(step.path), step.body);
    const id = isObject(body) ? body['id'] : undefined;
    if (step.makes && typeof id === 'string') this.known.set(step.makes, id);
    if (status !== step.status) return `status ${status} instead of ${step.status}${detailOf(body)}`;
    const difference =
      step.answer === undefined ? undefined : findDifference(this.fillTemplate(step.answer), body);
    if (difference !== undefined || step.after === undefined) return difference;
    const read = await this.send('GET', this.fillText(step.path));
    return findDifference(this.fillTemplate(step.after), read.body);
  }

  private async cleanUp(): Promise<void> {
    const paths = new Set<string>();
    for (const [name, type] of Object.entries(RESOURCE_PATHS)) {
      const id = this.known.get(name);
      if (id !== undefined) paths.add(`/${type}/${id}`);
    }
    for (const type of new Set(Object.values(RESOURCE_PATHS))) {
      const filter = `${type === 'Users' ? 'userName' : 'displayName'} sw "${this.name}"`;
      const found = await this.send('GET', `/${type}?filter=${filter}`).catch((error: unknown) => {
        this.remaining.push(`the ${type} whose name begins with ${this.name} (${reasonOf(error)})`);
      });
      const list = isObject(found?.body) ? found.body['Resources'] : undefined;
      for (const each of Array.isArray(list) ? list : [])
        if (isObject(each)) paths.add(`/${type}/${String(each['id'])}`);
    }
    for (const path of paths) {
      const problem = await this.send('DELETE', path).then(
        ({ status, body }) => ([204, 404].includes(status) ? undefined : `status ${status}${detailOf(body)}`),
        (error: unknown) => reasonOf(error),
      );
      if (problem !== undefined) this.remaining.push(`${path} (${problem})`);
    }
  }

  private async send(method: string, path: string, body?: Json): Promise<{ status: number; body: unknown }> {
    const answer = await fetch(new URL(this.base + path), {
      method,
      headers: { authorization: `Bearer ${this.key}`, 'content-type': 'application/scim+json' },
      redirect: 'error',
      signal: AbortSignal.timeout(TIMEOUT_MILLIS),
      ...(body !== undefined && { body: JSON.stringify(this.fillTemplate(body)) }),
    });
    const text = await answer.text();
    return { status: answer.status, body: text === '' ? undefined : (JSON.parse(text) as unknown) };
  }

  private fillText(template: string): string {
    return template.replace(PLACEHOLDER, (placeholder, name: string) => this.known.get(name) ?? placeholder);
  }

  private fillTemplate(template: Json): Json {
    const fill = (_key: string, each: Json): Json => (typeof each === 'string' ? this.fillText(each) : each);
    return JSON.parse(JSON.stringify(template), fill) as Json;
  }

  private findUnknownPlaceholder(step: Step): string | undefined {
    const names = [...JSON.stringify(step).matchAll(PLACEHOLDER)].map(([, name = '']) => name);
    return names.find((name) => !this.known.has(name));
  }
}

const detailOf = (body: unknown): string =>
  isObject(body) && typeof body['detail'] === 'string' ? `: ${body['detail']}` : '';

function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  return `no response (${errorCodeOf(cause) ?? messageOf(error)})`;
}

/**
 * Describes the first difference between the expected and the actual value, or returns undefined if the values match.
 * The rules are in `Step.answer`.
 */
function findDifference(expected: Json, actual: unknown, path = ''): string | undefined {
  if (expected === null) return actual === undefined ? undefined : `${path} is present`;
  if (isList(expected)) {
    if (!Array.isArray(actual)) return `${path} is not a list`;
    if (actual.length !== expected.length)
      return `${path} has ${actual.length} elements instead of ${expected.length}`;
    return findFirstDifference(expected.map((each, index) => [each, actual[index], `${path}[${index}]`]));
  }
  if (typeof expected === 'object') {
    if (!isObject(actual)) return `${path || 'the response'} is not an object`;
    const joinPath = (name: string): string => (path ? `${path}.${name}` : name);
    return findFirstDifference(
      Object.entries(expected).map(([name, each]) => [each, actual[name], joinPath(name)]),
    );
  }
  return expected === actual
    ? undefined
    : `${path} is ${actual === undefined ? 'absent' : JSON.stringify(actual)} instead of ${JSON.stringify(expected)}`;
}

const findFirstDifference = (pairs: [expected: Json, actual: unknown, path: string][]): string | undefined =>
  pairs.map((pair) => findDifference(...pair)).find((difference) => difference !== undefined);
