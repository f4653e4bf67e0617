import { type Attribute, type ScimObject, getMember, toComparable } from './attribute.js';

/**
 * Returns the elements in the request that the list does not contain. Compares only the sub-attributes in the request.
 */
export function findNewElements(
  attribute: Attribute,
  sent: readonly ScimObject[],
  list: readonly ScimObject[],
): ScimObject[] {
  // Signatures of all list elements, for each combination of sub-attributes. Each element in the request then needs
  // only one look-up.
  const byParts = new Map<string, Set<string>>();
  return sent.filter((element) => {
    const names = partNamesOf(element);
    const known = byParts.get(names) ?? new Set(list.map((one) => signatureOf(attribute, one, names)));
    byParts.set(names, known);
    const signature = signatureOf(attribute, element, names);
    const isNew = !known.has(signature);
    known.add(signature); // a repeated element is added only once
    return isNew;
  });
}

/** Removes the elements in the request from the list. Compares only the sub-attributes in the request. */
export function removeElements(
  attribute: Attribute,
  list: readonly ScimObject[],
  sent: readonly ScimObject[],
): readonly ScimObject[] {
  const byParts = [...Map.groupBy(sent, partNamesOf)].map(([names, elements]) => {
    const signatures = new Set(elements.map((element) => signatureOf(attribute, element, names)));
    return { names, signatures };
  });
  return list.filter(
    (one) => !byParts.some(({ names, signatures }) => signatures.has(signatureOf(attribute, one, names))),
  );
}

export const partNamesOf = (element: ScimObject): string => Object.keys(element).sort().join(' ');

/**
 * Returns a text that is equal for elements with equal values of the given sub-attributes.
 * @param names names of the sub-attributes, as joined by `partNamesOf`
 */
function signatureOf(attribute: Attribute, element: ScimObject, names: string): string {
  const parts = names.split(' ').map((name) => {
    const sub = attribute.findSub(name);
    return sub && toComparable(sub, getMember(element, name));
  });
  return JSON.stringify(parts);
}
