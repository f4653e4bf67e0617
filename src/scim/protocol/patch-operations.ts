import { ProblemError } from '../../platform/common/errors.js';
import { isObject } from '../../platform/common/json.js';
import type { CountDeviation } from './deviation.js';
import { quoted } from './errors.js';

/** Operations of one PATCH. */
const MAX_OPERATIONS = 1000;

const OPS = ['add', 'replace', 'remove'] as const;

/** An operation as it was sent: its value is not looked at yet. */
export interface Operation {
  op: (typeof OPS)[number];
  path?: string;
  value: unknown;
}

/** The operations of a PatchOp message (RFC 7644 §3.5.2), or a list of operations alone, names in any case. */
export function readOperations(body: unknown, deviation: CountDeviation): Operation[] {
  const list: unknown = Array.isArray(body) ? body : operationsIn(body, deviation);
  if (!Array.isArray(list) || list.length === 0) {
    throw new ProblemError('invalid_syntax', 'A PATCH needs Operations, a list of at least one.');
  }
  if (list.length > MAX_OPERATIONS) {
    throw new ProblemError('invalid_syntax', `A PATCH may have at most ${MAX_OPERATIONS} operations.`);
  }
  return list.map((operation: unknown, index) => readOperation(operation, index + 1, deviation));
}

function operationsIn(body: unknown, deviation: CountDeviation): unknown {
  if (!isObject(body)) throw new ProblemError('invalid_syntax', 'The body must be a PatchOp: a JSON object.');
  const members = lowerCased(body);
  if (!Array.isArray(members.get('schemas'))) deviation('missing_schemas');
  if (!Object.hasOwn(body, 'Operations')) deviation('spelling');
  return members.get('operations');
}

function readOperation(raw: unknown, number: number, deviation: CountDeviation): Operation {
  if (!isObject(raw)) throw new ProblemError('invalid_syntax', `Operation ${number} must be an object.`);
  const members = lowerCased(raw);
  const name = members.get('op');
  const op = OPS.find((known) => typeof name === 'string' && known === name.toLowerCase());
  if (!op) {
    const given = typeof name === 'string' ? `, not ${quoted(name)}` : '';
    throw new ProblemError(
      'invalid_syntax',
      `Operation ${number}: op must be add, replace or remove${given}.`,
    );
  }
  if (op !== name) deviation('spelling');
  const path = members.get('path') ?? '';
  if (typeof path !== 'string') {
    throw new ProblemError('invalid_path', `Operation ${number}: path must be a string.`);
  }
  return { op, ...(path.trim() !== '' && { path }), value: members.get('value') };
}

/** The members of an object by their names in small letters. */
export function lowerCased(object: Readonly<Record<string, unknown>>): Map<string, unknown> {
  return new Map(Object.entries(object).map(([name, value]) => [name.toLowerCase(), value]));
}
