import { getMetadataStorage } from 'class-validator';

/** A class whose decorators define the valid input of a client or an operator. */
export type InputClass<T extends object> = new () => T;

const fieldNames = new WeakMap<object, ReadonlySet<string>>();

/** Returns the names of the fields for which an input class has rules. */
export function fieldsOf(type: InputClass<object>): ReadonlySet<string> {
  let names = fieldNames.get(type);
  if (!names) {
    const rules = getMetadataStorage().getTargetValidationMetadatas(type, '', false, false);
    names = new Set(rules.map((rule) => rule.propertyName));
    fieldNames.set(type, names);
  }
  return names;
}
