import { ProblemError } from '../../platform/common/errors.js';
import type { Attribute } from './attribute.js';
import { hasValue } from './coerce.js';
import type { CountDeviation } from './deviation.js';
import { elementsLeft, newElements, objectsIn, partsMadeBy } from './elements.js';
import type { Filter } from './filter.js';
import { comparisonsIn, elementMatcher } from './filter-match.js';
import { type ScimObject, type ScimValue, isScimObject, member } from './json.js';
import { type PatchOptions, type PatchStep, readPatch } from './patch-steps.js';
import { onePrimary, without } from './primary.js';

/** Comparisons that the filters of one PATCH make with elements: some milliseconds of the main thread. */
const MAX_COMPARED = 20_000;

/** `readPatch` and `applySteps`. */
export function applyPatch(resource: ScimObject, body: unknown, options: PatchOptions): ScimObject {
  return applySteps(resource, readPatch(body, options), options);
}

/**
 * The resource after the steps, in order. The input is not changed. Elements that are left without their `value` are
 * dropped at the end: two steps may make one.
 * @throws ProblemError `no_target`; `invalid_value` for a list that becomes too long; `too_many` for filters of great cost
 */
export function applySteps(
  resource: ScimObject,
  steps: readonly PatchStep[],
  { deviation }: Pick<PatchOptions, 'deviation'>,
): ScimObject {
  const touched = new Set<Attribute>();
  let state = resource;
  let compared = 0;
  for (const step of steps) {
    const { attribute, filter } = step.target;
    const before = attribute.valueIn(state);
    if (filter) compared += comparisonsIn(filter) * Math.max(1, objectsIn(before).length);
    if (compared > MAX_COMPARED) {
      const most = `The filters in the paths would make more than ${MAX_COMPARED} comparisons`;
      throw new ProblemError('too_many', `${most}: send fewer operations in one PATCH.`);
    }
    const after = attribute.multiValued ? listAfter(before, step, deviation) : singleAfter(before, step);
    if (attribute.multiValued) touched.add(attribute);
    state = withValue(state, attribute, after);
  }
  for (const attribute of touched) {
    const elements = objectsIn(attribute.valueIn(state)).filter((element) => hasValue(attribute, element));
    state = withValue(state, attribute, elements);
  }
  return state;
}

function withValue(resource: ScimObject, attribute: Attribute, value: ScimValue | undefined): ScimObject {
  if (attribute.schema === undefined) return withMember(resource, attribute.name, value);
  const held = member(resource, attribute.schema);
  const extension = withMember(isScimObject(held) ? held : {}, attribute.name, value);
  return withMember(resource, attribute.schema, extension);
}

/** The object with a member; without it when nothing is in the value. */
function withMember(object: ScimObject, name: string, value: ScimValue | undefined): ScimObject {
  const isNothing = value === undefined || (typeof value === 'object' && Object.keys(value).length === 0);
  if (!isNothing) return { ...object, [name]: value };
  return Object.hasOwn(object, name) ? without(object, name) : object;
}

function singleAfter(before: ScimValue | undefined, step: PatchStep): ScimValue | undefined {
  const { attribute, sub, filter } = step.target;
  if (attribute.type !== 'complex') return step.op === 'remove' ? undefined : step.value;
  const held = isScimObject(before) ? before : undefined;
  if (filter && !(held && elementMatcher(filter)(held))) {
    if (step.op === 'remove') return before;
    throw noTarget(attribute);
  }
  if (step.op === 'remove') return sub && held ? without(held, sub.name) : undefined;
  return changed(held ?? {}, step);
}

/** An object with the part, or the parts, of a step. */
function changed(object: ScimObject, { op, target: { sub }, value, unset = [] }: PatchStep): ScimObject {
  if (sub) {
    return op === 'remove' || value === undefined
      ? without(object, sub.name)
      : { ...object, [sub.name]: value };
  }
  const rest = unset.reduce((left, name) => without(left, name), object);
  return isScimObject(value) ? { ...rest, ...value } : rest;
}

function listAfter(
  before: ScimValue | undefined,
  step: PatchStep,
  deviation: CountDeviation,
): ScimValue | undefined {
  const { attribute } = step.target;
  const elements = objectsIn(before);
  const after = elementsAfter(elements, step, deviation);
  if (after.length > attribute.maxItems && after.length > elements.length) {
    throw new ProblemError(
      'invalid_value',
      `${attribute.path} may hold at most ${attribute.maxItems} elements.`,
    );
  }
  return onePrimary(attribute, after, elements);
}

function elementsAfter(
  elements: readonly ScimObject[],
  step: PatchStep,
  deviation: CountDeviation,
): readonly ScimObject[] {
  const { attribute, filter, sub } = step.target;
  if (filter) return chosenAfter(elements, step, filter, deviation);
  if (sub) {
    const targets = elements.length === 0 && step.op !== 'remove' ? [{}] : elements;
    return targets.map((element) => changed(element, step));
  }
  const sent = objectsIn(step.value);
  if (step.op === 'replace') return sent;
  if (step.op === 'add') return [...elements, ...newElements(attribute, sent, elements)];
  return step.value === undefined ? [] : elementsLeft(attribute, elements, sent);
}

/** The elements that a filter chooses are changed. Where it chooses none, its `eq`s describe the one to be made. */
function chosenAfter(
  elements: readonly ScimObject[],
  step: PatchStep,
  filter: Filter,
  deviation: CountDeviation,
): readonly ScimObject[] {
  const { attribute, sub } = step.target;
  const isChosen = elementMatcher(filter);
  if (step.op === 'remove' && !sub) return elements.filter((element) => !isChosen(element));
  if (elements.some(isChosen)) {
    return elements.map((element) => (isChosen(element) ? changed(element, step) : element));
  }
  if (step.op === 'remove') return elements;
  const parts = sub && partsMadeBy(filter);
  if (!parts) throw noTarget(attribute);
  deviation('filter_creates_element');
  return [...elements, changed(parts, step)];
}

function noTarget(attribute: Attribute): ProblemError {
  return new ProblemError('no_target', `No element of ${attribute.path} satisfies the filter of the path.`);
}
