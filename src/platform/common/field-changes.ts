import { type JsonText, fromJson, toJson } from './json.js';

/** One changed field of a record. A secret has neither `old` nor `new`. */
export interface FieldChange {
  field: string;
  old?: unknown;
  new?: unknown;
}

/** A list of changes; where all of them set a field that had nothing, an object of the new values by `+field`. */
export type ChangesText = JsonText<FieldChange[] | Record<string, unknown>>;

/** No name inside a value begins with it: so a search for `"+email":` finds the field only. */
const SET = '+';

/**
 * What a change did to a record, with the text that columns keep of it. Each form is made of the other when it is first
 * asked for: an import writes the text of a new user three times, and reads the list never.
 */
export class Changes {
  private constructor(
    private known: { text?: ChangesText; list?: readonly FieldChange[]; set?: Record<string, unknown> },
  ) {}

  static of(list: readonly FieldChange[]): Changes {
    return new Changes({ list });
  }

  /** Of a new record. @param set the values of its fields by `+field`, as `setName` writes it. */
  static ofNew(set: Record<string, unknown>): Changes {
    return new Changes({ set });
  }

  static read(text: ChangesText): Changes {
    return new Changes({ text });
  }

  get text(): ChangesText {
    return (this.known.text ??= toJson(this.known.set ?? compact(this.known.list ?? [])));
  }

  /** The text for readers who may not see all of it. @param mask leaves JSON as JSON. */
  textAfter(mask: (text: string) => string): ChangesText {
    return mask(this.text) as ChangesText;
  }

  get list(): readonly FieldChange[] {
    return (this.known.list ??= listOf(this.parsed));
  }

  /** The new values, by field. */
  get values(): Record<string, unknown> {
    const { parsed } = this;
    const values: Record<string, unknown> = {};
    if (Array.isArray(parsed)) for (const change of parsed) values[change.field] = change.new;
    else for (const name of Object.keys(parsed)) values[name.slice(SET.length)] = parsed[name];
    return values;
  }

  private get parsed(): FieldChange[] | Record<string, unknown> {
    return this.known.set ?? fromJson(this.text);
  }

  get isEmpty(): boolean {
    return this.text === EMPTY_TEXT;
  }

  /** The pieces of a text by which the changes of a field are found, in either form. */
  static mentions(field: string): readonly string[] {
    return [`{"field":"${field}"`, `"${setName(field)}":`];
  }
}

export const setName = (field: string): string => SET + field;

function compact(list: readonly FieldChange[]): FieldChange[] | Record<string, unknown> {
  const onlySets = list.length > 0 && list.every((change) => change.old === null && change.new !== undefined);
  if (!onlySets) return [...list];
  return Object.fromEntries(list.map((change) => [setName(change.field), change.new]));
}

function listOf(parsed: FieldChange[] | Record<string, unknown>): FieldChange[] {
  if (Array.isArray(parsed)) return parsed;
  return Object.entries(parsed).map(([name, value]) => ({
    field: name.slice(SET.length),
    old: null,
    new: value,
  }));
}

const EMPTY_TEXT = toJson([]);
export const NO_CHANGES = Changes.of([]);
