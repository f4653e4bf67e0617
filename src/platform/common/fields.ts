import { getMetadataStorage } from 'class-validator';

/** A class whose decorators say what a client or an operator may write. */
export type InputClass<T extends object> = new () => T;

const fieldNames = new WeakMap<object, ReadonlySet<string>>();

/** Names of the fields that an input class has rules for. */
export function fieldsOf(type: InputClass<object>): ReadonlySet<string> {
  let names = fieldNames.get(type);
  if (!names) {
    const rules = getMetadataStorage().getTargetValidationMetadatas(type, '', false, false);
    names = new Set(rules.map((rule) => rule.propertyName));
    fieldNames.set(type, names);
  }
  return names;
}
