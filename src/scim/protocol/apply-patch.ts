import { ProblemError } from '../../platform/common/errors.js';
import {
  type Attribute,
  type ScimObject,
  type ScimValue,
  comparableOf,
  isScimObject,
  member,
  objectsIn,
} from './attribute.js';
import { comparisonsIn, elementMatcher, partsMadeBy } from './filter-match.js';
import type { Filter } from './filter.js';
import { type CountDeviation, hasValue, onePrimary, without } from './input.js';
import type { PatchStep } from './read-patch.js';

/** Comparisons that the filters of one PATCH make with elements: some milliseconds of the main thread. */
const MAX_COMPARED = 20_000;

/**
 * Returns the resource after the steps, in order. The input is not changed. Elements that are left without their `value`
 * are dropped at the end: two steps may make one.
 * @throws ProblemError `no_target`; `invalid_value` for a list that becomes too long; `too_many` for filters of great cost
 */
export function applySteps(
  resource: ScimObject,
  steps: readonly PatchStep[],
  { deviation }: { deviation: CountDeviation },
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
    if (attribute.multiValued) touched.add(attribute);
    const after = attribute.multiValued ? listAfter(before, step, deviation) : singleAfter(before, step);
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

/** Returns the object with a member, or without it where the value is empty. */
function withMember(object: ScimObject, name: string, value: ScimValue | undefined): ScimObject {
  const isNothing = value === undefined || (typeof value === 'object' && Object.keys(value).length === 0);
  return isNothing ? without(object, name) : { ...object, [name]: value };
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

/** Returns an object with the part, or the parts, of a step. */
function changed(object: ScimObject, { op, target: { sub }, value, unset = [] }: PatchStep): ScimObject {
  if (sub) {
    return op === 'remove' || value === undefined
      ? without(object, sub.name)
      : { ...object, [sub.name]: value };
  }
  const rest = unset.reduce(without, object);
  return isScimObject(value) ? { ...rest, ...value } : rest;
}

function listAfter(
  before: ScimValue | undefined,
  step: PatchStep,
  deviation: CountDeviation,
): readonly ScimObject[] {
  const { attribute } = step.target;
  const elements = objectsIn(before);
  const after = elementsAfter(elements, step, deviation);
  if (after.length > attribute.maxItems && after.length > elements.length) {
    const detail = `${attribute.path} may hold at most ${attribute.maxItems} elements.`;
    throw new ProblemError('invalid_value', detail);
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

/** Changes the elements that a filter chooses. Where it chooses none, its `eq`s describe an element to be created. */
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

const noTarget = ({ path }: Attribute): ProblemError =>
  new ProblemError('no_target', `No element of ${path} satisfies the filter of the path.`);

/** Returns the sent elements that are not in the list: none there is equal in all parts that were sent. */
function newElements(
  attribute: Attribute,
  sent: readonly ScimObject[],
  list: readonly ScimObject[],
): ScimObject[] {
  // Signatures by the parts of elements, so that a comparison costs a look-up and not a pass over the list.
  const byParts = new Map<string, Set<string>>();
  return sent.filter((element) => {
    const names = partsOf(element);
    const known = byParts.get(names) ?? new Set(list.map((one) => signatureOf(attribute, one, names)));
    byParts.set(names, known);
    const signature = signatureOf(attribute, element, names);
    const isNew = !known.has(signature);
    known.add(signature); // an element that is sent twice is added once
    return isNew;
  });
}

/** Returns the list without the elements that are equal to a sent element, in all parts that were sent. */
function elementsLeft(
  attribute: Attribute,
  list: readonly ScimObject[],
  sent: readonly ScimObject[],
): readonly ScimObject[] {
  const byParts = [...Map.groupBy(sent, partsOf)].map(([names, elements]) => {
    const signatures = new Set(elements.map((element) => signatureOf(attribute, element, names)));
    return { names, signatures };
  });
  return list.filter(
    (one) => !byParts.some(({ names, signatures }) => signatures.has(signatureOf(attribute, one, names))),
  );
}

/** Returns the names of the parts of an element, which hold no blanks. */
const partsOf = (element: ScimObject): string => Object.keys(element).sort().join(' ');

/** Returns a text that is the same for elements with equal parts. @param names as by `partsOf` */
function signatureOf(attribute: Attribute, element: ScimObject, names: string): string {
  const parts = names.split(' ').map((name) => {
    const sub = attribute.sub(name);
    return sub && comparableOf(sub, member(element, name));
  });
  return JSON.stringify(parts);
}
