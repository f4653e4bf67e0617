type Form = (raw: unknown) => unknown;

const forms = new WeakMap<object, Map<string, Form>>();

/** Gives a field the form in which its rules see it and in which it is stored. Rules run afterwards. */
export function Normalise(form: Form): PropertyDecorator {
  return (prototype, property) => {
    const own = forms.get(prototype) ?? new Map<string, Form>();
    forms.set(prototype, own.set(String(property), form));
  };
}

/**
 * An instance of an input class with the fields of `sent`, which are fields of that class, each in its form. A field is
 * taken as it is and never walked: a value may hold members named `constructor` or `then` that a generic transformer
 * would trip over.
 */
export function toInstance<T extends object>(
  type: new () => T,
  sent: readonly (readonly [string, unknown])[],
): T {
  const fields: Record<string, unknown> = {};
  for (const [field, raw] of sent) {
    const form = formOf(type.prototype as object, field);
    fields[field] = form ? form(raw) : raw;
  }
  return Object.assign(new type(), fields);
}

function formOf(prototype: object | null, field: string): Form | undefined {
  for (let at = prototype; at; at = Object.getPrototypeOf(at) as object | null) {
    const form = forms.get(at)?.get(field);
    if (form) return form;
  }
  return undefined;
}
