import { type JsonText, fromJson, toJson } from './json.js';

/** A changed field of a record. For a secret, both `old` and `new` are missing. */
export interface FieldChange {
  field: string;
  old?: unknown;
  new?: unknown;
}

/**
 * JSON text with the changes of a record: a list, or an object if all changed fields were empty before. The object maps
 * `+field` to the new value.
 */
export type ChangesText = JsonText<FieldChange[] | Record<string, unknown>>;

/**
 * Prefix of field names in the object form. Names inside values never have this prefix, so a search for `"+email":`
 * finds only changes of this field.
 */
const SET = '+';

/** The changed fields of a record, as a list and as JSON text for a column. Each form is computed on first use. */
export class Changes {
  private constructor(private known: { text?: ChangesText; list?: readonly FieldChange[] }) {}

  static fromList(list: readonly FieldChange[]): Changes {
    return new Changes({ list });
  }

  static fromText(text: ChangesText): Changes {
    return new Changes({ text });
  }

  get text(): ChangesText {
    return (this.known.text ??= toJson(compactChanges(this.known.list ?? [])));
  }

  /**
   * Returns the text with masked values.
   * @param mask masks values in the text, and returns valid JSON.
   */
  maskText(mask: (text: string) => string): ChangesText {
    return mask(this.text) as ChangesText;
  }

  get list(): readonly FieldChange[] {
    return (this.known.list ??= toChangeList(fromJson(this.text)));
  }

  get values(): Record<string, unknown> {
    return Object.fromEntries(this.list.map(({ field, new: value }) => [field, value]));
  }

  get isEmpty(): boolean {
    return this.text === EMPTY_TEXT;
  }

  /** Returns the search texts for changes of a field: one for the list form, and one for the object form. */
  static buildSearchTexts(field: string): readonly string[] {
    return [`{"field":"${field}"`, `"${toNewValueKey(field)}":`];
  }
}

const toNewValueKey = (field: string): string => SET + field;

function compactChanges(list: readonly FieldChange[]): FieldChange[] | Record<string, unknown> {
  const onlySets = list.length > 0 && list.every((change) => change.old === null && change.new !== undefined);
  if (!onlySets) return [...list];
  const values: Record<string, unknown> = {};
  for (const change of list) values[toNewValueKey(change.field)] = change.new;
  return values;
}

function toChangeList(parsed: FieldChange[] | Record<string, unknown>): FieldChange[] {
  if (Array.isArray(parsed)) return parsed;
  return Object.keys(parsed).map((name) => ({ field: name.slice(SET.length), old: null, new: parsed[name] }));
}

const EMPTY_TEXT = toJson([]);
export const NO_CHANGES = Changes.fromList([]);
