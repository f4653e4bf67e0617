import { randomBytes } from 'node:crypto';
import { errorCode } from '../../platform/common/errors.js';
import { isObject } from '../../platform/common/json.js';
import { MADE, type Made, type Step, type Template, isList } from './replay.js';

/** How a step ended; `problem` where it did not pass. */
export interface Outcome {
  step: Step;
  problem?: string;
}

interface Received {
  status: number;
  body: unknown;
}

/** Longer than any request of a provider takes here. */
const PATIENCE_MS = 30_000;
const MADE_NAMES = Object.keys(MADE) as Made[];
const PLACEHOLDER = /\{(\w+)\}/g;

/** Sends the requests of a provider to a service, as that provider would, and looks at the answers. */
export class ReplayRun {
  private readonly base: string;
  /** Values of the placeholders. */
  private readonly known = new Map<string, string>([['name', `doctor-${randomBytes(6).toString('hex')}`]]);

  /** What was made and could not be deleted at the end, with the reason. */
  readonly left: string[] = [];

  /** @param url of the service. @throws Error for what is no address. */
  constructor(
    url: string,
    private readonly key: string,
  ) {
    if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
      throw new Error('--url must be the address of a service, such as http://127.0.0.1:3000.');
    this.base = `${url.replace(/\/+$/, '')}/scim/v2`;
  }

  /** What its users and groups are called. */
  get name(): string {
    return this.known.get('name') ?? '';
  }

  /** Each step as it ends. What was made is deleted at the end, also where steps fail or nobody asks for the next. */
  async *outcomes(steps: readonly Step[]): AsyncGenerator<Outcome> {
    try {
      for (const step of steps) {
        const problem = await this.problemOf(step).catch((error: unknown) => reasonOf(error));
        yield problem === undefined ? { step } : { step, problem };
      }
    } finally {
      await this.cleanUp();
    }
  }

  private async problemOf(step: Step): Promise<string | undefined> {
    const missing = this.missing([step.path, step.body ?? null, step.answer ?? null, step.after ?? null]);
    if (missing !== undefined) return `not sent: an earlier step did not make the ${missing}`;
    const { status, body } = await this.send(step.method, this.text(step.path), step.body);
    const id = isObject(body) ? body['id'] : undefined;
    if (step.makes && typeof id === 'string') this.known.set(step.makes, id);
    if (status !== step.status) return `status ${status} instead of ${step.status}${detailOf(body)}`;
    const wrong = step.answer === undefined ? undefined : mismatch(this.filled(step.answer), body);
    if (wrong !== undefined || step.after === undefined) return wrong;
    const read = await this.send('GET', this.text(step.path));
    return mismatch(this.filled(step.after), read.body);
  }

  /** What was deleted by a step, or never made, is no error here. */
  private async cleanUp(): Promise<void> {
    for (const made of MADE_NAMES) {
      const id = this.known.get(made);
      if (id === undefined) continue;
      const path = `/${MADE[made]}/${id}`;
      const problem = await this.send('DELETE', path).then(
        ({ status, body }) => ([204, 404].includes(status) ? undefined : `status ${status}${detailOf(body)}`),
        (error: unknown) => reasonOf(error),
      );
      if (problem !== undefined) this.left.push(`${path} (${problem})`);
    }
  }

  private async send(method: string, path: string, body?: Template): Promise<Received> {
    const answer = await fetch(new URL(this.base + path), {
      method,
      headers: { authorization: `Bearer ${this.key}`, 'content-type': 'application/scim+json' },
      redirect: 'error',
      signal: AbortSignal.timeout(PATIENCE_MS),
      ...(body !== undefined && { body: JSON.stringify(this.filled(body)) }),
    });
    const text = await answer.text();
    return { status: answer.status, body: text === '' ? undefined : (JSON.parse(text) as unknown) };
  }

  private text(template: string): string {
    return template.replace(PLACEHOLDER, (placeholder, name: string) => this.known.get(name) ?? placeholder);
  }

  private filled(template: Template): Template {
    if (typeof template === 'string') return this.text(template);
    if (isList(template)) return template.map((each) => this.filled(each));
    if (typeof template !== 'object' || template === null) return template;
    return Object.fromEntries(Object.entries(template).map(([name, each]) => [name, this.filled(each)]));
  }

  /** The first placeholder without a value. */
  private missing(templates: Template): string | undefined {
    const names = [...JSON.stringify(templates).matchAll(PLACEHOLDER)].map(([, name = '']) => name);
    return names.find((name) => !this.known.has(name));
  }
}

const detailOf = (body: unknown): string =>
  isObject(body) && typeof body['detail'] === 'string' ? `: ${body['detail']}` : '';

function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  return `no answer (${errorCode(cause) ?? (error instanceof Error ? error.message : String(error))})`;
}

/**
 * Where a value lacks something that is wanted, as a text for a person; undefined where it has all of it.
 * Objects may have more members; a list has as many elements; null is wanted to be absent.
 */
function mismatch(wanted: Template, found: unknown, path = ''): string | undefined {
  if (wanted === null) return found === undefined ? undefined : `${path} is there`;
  if (isList(wanted)) {
    if (!Array.isArray(found)) return `${path} is no list`;
    if (found.length !== wanted.length)
      return `${path} has ${found.length} elements instead of ${wanted.length}`;
    return firstOf(wanted.map((each, index) => [each, found[index], `${path}[${index}]`]));
  }
  if (typeof wanted === 'object') {
    if (!isObject(found)) return `${path || 'the answer'} is no object`;
    const at = (name: string): string => (path ? `${path}.${name}` : name);
    return firstOf(Object.entries(wanted).map(([name, each]) => [each, found[name], at(name)]));
  }
  return wanted === found
    ? undefined
    : `${path} is ${found === undefined ? 'absent' : JSON.stringify(found)} instead of ${JSON.stringify(wanted)}`;
}

function firstOf(pairs: [wanted: Template, found: unknown, path: string][]): string | undefined {
  for (const [wanted, found, path] of pairs) {
    const wrong = mismatch(wanted, found, path);
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}
