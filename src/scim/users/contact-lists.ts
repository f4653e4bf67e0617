import { type ScimObject, type ScimValue, isScimObject, member } from '../protocol/attribute.js';

/**
 * Lists of which some elements have a column of the user: emails, phoneNumbers, photos. The attributes of the user keep the
 * order and the qualifiers of all elements, and the value of those without a column; an element without a value is that
 * of its column, so that a change of the column by another way shows at once.
 */
export type ContactList = 'emails' | 'phoneNumbers' | 'photos';

/** A column: its name, which element of a list it holds, and what a user from elsewhere shows. */
interface Column {
  field: 'email' | 'phone' | 'mobile' | 'user_avatar';
  /** The index of its element; -1 for none. */
  find: (elements: readonly ScimObject[]) => number;
  /** Whether an element without a value is that of this column. */
  owns: (element: ScimObject) => boolean;
  qualifiers: ScimObject;
}

const typeOf = (element: ScimObject): string => {
  const type = member(element, 'type');
  return typeof type === 'string' ? type.toLowerCase() : '';
};
const ofType =
  (...types: readonly string[]) =>
  (element: ScimObject): boolean =>
    types.includes(typeOf(element));
const isPrimary = (element: ScimObject): boolean => member(element, 'primary') === true;

/** The primary e-mail address, else the first of type work, else the first. */
function loginAddress(elements: readonly ScimObject[]): number {
  const primary = elements.findLastIndex(isPrimary);
  if (primary !== -1) return primary;
  return Math.max(0, elements.findIndex(ofType('work')));
}

const COLUMNS: Readonly<Record<ContactList, readonly Column[]>> = {
  emails: [
    {
      field: 'email',
      find: (elements) => (elements.length === 0 ? -1 : loginAddress(elements)),
      owns: () => true,
      qualifiers: { type: 'work', primary: true },
    },
  ],
  phoneNumbers: [
    {
      field: 'phone',
      find: (elements) => elements.findIndex(ofType('work')),
      owns: ofType('work'),
      qualifiers: { type: 'work' },
    },
    {
      field: 'mobile',
      find: (elements) => elements.findIndex(ofType('mobile')),
      owns: ofType('mobile'),
      qualifiers: { type: 'mobile' },
    },
  ],
  photos: [
    {
      field: 'user_avatar',
      find: (elements) => elements.findIndex(ofType('photo', '')),
      owns: ofType('photo', ''),
      qualifiers: { type: 'photo' },
    },
  ],
};

type Values = Partial<Record<Column['field'], string>>;

/** A list as it is sent to clients. @param kept what the attributes hold of it. */
export function joined(list: ContactList, kept: unknown, values: Values): ScimObject[] {
  const left = COLUMNS[list].filter(({ field }) => (values[field] ?? '') !== '');
  const elements: ScimObject[] = [];
  for (const element of objectsIn(kept)) {
    if (member(element, 'value') !== undefined) elements.push(element);
    else {
      const at = left.findIndex(({ owns }) => owns(element));
      const [column] = at === -1 ? [] : left.splice(at, 1);
      if (column) elements.push({ value: values[column.field] ?? '', ...element });
    }
  }
  for (const { field, qualifiers } of left) elements.push({ value: values[field] ?? '', ...qualifiers });
  return elements;
}

/**
 * A list as it was sent, taken apart: the values of the columns (null: none), and what the attributes keep (null: no more
 * than users from elsewhere show). Elements without a value are left out. Of several primary elements the last one stays it.
 */
export function taken(
  list: ContactList,
  sent: ScimValue | undefined,
): { values: Partial<Record<Column['field'], string | null>>; kept: ScimObject[] | null } {
  const elements = withOnePrimary(
    objectsIn(sent).filter((element) => member(element, 'value') !== undefined),
  );
  const values: Partial<Record<Column['field'], string | null>> = {};
  const kept = [...elements];
  const standard: ScimObject[] = [];
  for (const { field, find, qualifiers } of COLUMNS[list]) {
    const at = find(elements);
    const value = at === -1 ? undefined : member(elements[at] ?? {}, 'value');
    values[field] = typeof value === 'string' ? value : null;
    if (at === -1) continue;
    const { value: _, ...rest } = elements[at] ?? {};
    kept[at] = rest;
    standard.push(qualifiers);
  }
  const isStandard = canonical(kept) === canonical(standard);
  return { values, kept: isStandard || kept.length === 0 ? null : kept };
}

function withOnePrimary(elements: readonly ScimObject[]): ScimObject[] {
  const last = elements.findLastIndex(isPrimary);
  return elements.map((element, index) => {
    if (!isPrimary(element) || index === last) return element;
    const { primary: _, ...rest } = element;
    return rest;
  });
}

function objectsIn(value: unknown): ScimObject[] {
  return Array.isArray(value) ? value.filter((each: ScimValue) => isScimObject(each)) : [];
}

const canonical = (elements: readonly ScimObject[]): string =>
  JSON.stringify(elements.map((element) => Object.entries(element).sort(([a], [b]) => (a < b ? -1 : 1))));
