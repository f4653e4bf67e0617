import { getOptionName, formatOptionValue } from '../../api/options.js';
import type { components } from '../../api/generated.js';
import type { Options, Preview } from '../../api/upload.js';
import { COLUMNS, IGNORE, REQUIRED_COLUMNS, getField, toHeaderKey } from '../../lib/columns.js';
import { formatColumns, listTemplateColumns, moveUnique } from './template.js';

type Document = components['schemas']['ImportProfileDto']['profile'];

/** The document of a profile that is being edited. */
export type Draft = Partial<Document> & Pick<Document, 'columns'>;

/** New values of members of the draft. The values undefined, '' and false, and empty maps and lists, remove a member. */
export type DraftChanges = { [Name in keyof Draft]?: Draft[Name] | undefined | '' };

export type TextMap = Readonly<Record<string, string>>;

/** State of the profile editor: the draft, the preview of the sample file, and the functions that change them. */
export interface Editing {
  draft: Draft;
  /** The saved profile. Undefined for a new profile. */
  saved: Draft | undefined;
  /** The sample file as the draft reads it. */
  preview: Preview | undefined;
  /** True until the service has suggested a profile for the file. */
  isSuggesting: boolean;
  /** Templates that the service offers for a column. */
  getOffers: (column: string) => Preview['templates'];
  change: (changes: DraftChanges) => void;
  /** Changes how the file is read. Suggests the rest again if nothing else has been changed. */
  changeReading: (changes: DraftChanges) => void;
  /** Returns the error of the service for a path such as `set.Email`, or ''. */
  getError: (path: string) => string;
}

const isEmpty = (value: unknown): boolean =>
  value === undefined ||
  value === '' ||
  value === false ||
  (typeof value === 'object' && value !== null && Object.keys(value).length === 0);

export function changeDraft(draft: Draft, changes: DraftChanges): Draft {
  const members = Object.entries({ ...draft, ...changes });
  return Object.fromEntries(
    members.filter(([name, value]) => name === 'columns' || !isEmpty(value)),
  ) as Draft;
}

/** Returns a map with a changed member. The value undefined removes the member. */
export const setMember = <T>(
  map: Readonly<Record<string, T>> | undefined,
  name: string,
  value: T | undefined,
): Record<string, T> => {
  const others = Object.entries(map ?? {}).filter(([each]) => each !== name);
  return value === undefined ? Object.fromEntries(others) : { ...map, [name]: value };
};

/** Returns the key of a source column in a map of the draft, which may be spelled differently. */
export const findKey = (map: object | undefined, source: string): string | undefined =>
  Object.keys(map ?? {}).find((each) => toHeaderKey(each) === toHeaderKey(source));

/** Lists the source columns that fill an import column. */
export const findSources = ({ columns }: Draft, column: string): string[] =>
  Object.entries(columns).flatMap(([source, target]) => (target === column ? [source] : []));

/** Maps a source column to an import column, instead of any other source column or template. */
export function mapColumn({ columns, set }: Draft, source: string, target: string): DraftChanges {
  const key = findKey(columns, source);
  const others = Object.entries(columns)
    .filter(([name]) => name !== key)
    .map(([name, old]): [string, string] => [name, old === target && target !== 'Status' ? IGNORE : old]);
  return {
    columns: { ...Object.fromEntries(others), ...(target && { [key ?? source]: target }) },
    set: setMember<string>(set, target, undefined),
  };
}

/** Fills an import column with a template, instead of any source column. */
export const setTemplate = ({ columns, set }: Draft, column: string, template: string): DraftChanges => ({
  columns: Object.fromEntries(Object.entries(columns).filter(([, target]) => target !== column)),
  set: { ...set, [column]: template },
});

/** Domain of e-mail addresses that a fallback builds. It is reserved (RFC 2606), so it never receives e-mail. */
export const NO_MAIL = '@no-mail.example';

/**
 * Starts the template of an import column with its source column, or adds a fallback to its template.
 * @param hasFallback true to add a fallback for blank cells. The fallback contains the ExternalId, because every row
 * has one.
 */
export function buildTemplate(draft: Draft, column: string, hasFallback: boolean): DraftChanges {
  const format = (name: string) => draft.set?.[name] ?? formatColumns(findSources(draft, name));
  const fallback = hasFallback ? `${format('ExternalId')}${column === 'Email' ? NO_MAIL : ''}` : '';
  return setTemplate(draft, column, moveUnique([format(column), fallback].filter(Boolean).join(' || ')));
}

/** Counts the rows of new users without a required value, such as an e-mail address. */
export const countBlanks = (preview: Preview | undefined, column: string): number =>
  preview?.problems.filter(({ code, field }) => code === 'required' && field === getField(column)).length ??
  0;

/** Removes a template. The import column gets the first column of the template that is not mapped yet. */
export function removeTemplate(draft: Draft, column: string): DraftChanges {
  const names = listTemplateColumns(draft.set?.[column] ?? '');
  const free = names.find((name) => findKey(draft.columns, name) === undefined);
  const set = setMember<string>(draft.set, column, undefined);
  return free === undefined ? { set } : mapColumn({ ...draft, set }, free, column);
}

/** Members of a profile that each name a source column. */
export const SOURCE_MEMBERS: readonly (keyof Draft)[] = ['active_from', 'active_until', 'manager_key'];

/** Lists the import columns that a template fills from a source column, and the settings that name the source column. */
export function listUses(draft: Draft, source: string): string[] {
  const isSource = (name: string): boolean => toHeaderKey(name) === toHeaderKey(source);
  const filled = Object.entries(draft.set ?? {}).filter(([, text]) =>
    listTemplateColumns(text).some(isSource),
  );
  const settings = SOURCE_MEMBERS.filter((name) => isSource(toText(draft[name])));
  return [...filled.map(([column]) => column), ...settings.map(getOptionName)];
}

/** Lists the names of the source columns: the columns of the file, then other columns that the draft names. */
export function listSources({ draft, preview }: Pick<Editing, 'draft' | 'preview'>): string[] {
  const names = [
    ...(preview?.columns ?? []).map(({ source }) => source),
    ...Object.keys(draft.columns),
    ...Object.values(draft.set ?? {}).flatMap(listTemplateColumns),
  ];
  const keys = names.map(toHeaderKey);
  return names.filter((_, at) => keys.indexOf(keys[at] ?? '') === at);
}

/** Counts the source columns that an import column or a template uses. */
export const countImported = ({ draft, preview }: Pick<Editing, 'draft' | 'preview'>): number =>
  listSources({ draft, preview }).filter((source) => {
    const target = draft.columns[findKey(draft.columns, source) ?? ''] ?? IGNORE;
    return target !== IGNORE || listUses(draft, source).length > 0;
  }).length;

/**
 * Returns the values of a draft with the suggested meaning of each word that has no meaning yet. Returns undefined if
 * there are no suggestions.
 */
export function addProbableMeanings({ values = {} }: Draft, { words }: Preview): Draft['values'] {
  const added = words.flatMap(({ source, column, words: all }) => {
    const name = findKey(values, source) ?? findKey(values, column) ?? source;
    const found = all.filter(({ meaning, suggestion }) => meaning === null && suggestion !== null);
    const texts = found.map(({ word, suggestion }) => [word, suggestion ?? ''] as const);
    return found.length > 0 ? [[name, { ...values[name], ...Object.fromEntries(texts) }] as const] : [];
  });
  return added.length > 0 ? { ...values, ...Object.fromEntries(added) } : undefined;
}

export const isFilled = ({ columns, set }: Draft, column: string): boolean =>
  Object.values(columns).includes(column) || Boolean(set?.[column]);

/** Lists the import columns that neither a source column nor a template fills. */
export const listFreeColumns = (draft: Draft): string[] =>
  COLUMNS.map(([name]) => name).filter((name) => !isFilled(draft, name) && draft.set?.[name] === undefined);

/** Returns true if the service can validate a draft. Every profile fills ExternalId. */
export const isPreviewable = (draft: Draft): boolean => isFilled(draft, 'ExternalId');

/** Options that an import accepts without a profile. */
const OPTIONS = [
  ...['dataset', 'part', 'missing', 'returning', 'mode', 'blank_cells', 'adopt', 'default_roles'],
  ...['encoding', 'delimiter', 'ignore_unknown_columns', 'allow_privileged'],
];
export const isOption = (path: string): boolean => OPTIONS.includes(path);

/** Formats the value of a setting as a parameter of an import. */
export function toText(value: unknown): string {
  if (Array.isArray(value)) return value.join(';');
  return typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value);
}

/** Returns the options of a draft as parameters of an import. */
export const toOptions = (draft: Draft, names: readonly string[] = OPTIONS): Options =>
  Object.fromEntries(names.map((name) => [name, toText(draft[name as keyof Draft])]));

/** A setting that differs between two profiles. */
export interface Difference {
  /** Names of the member and of its members: `values`, `State`, `A`. */
  path: readonly string[];
  old: string | undefined;
  new: string | undefined;
}

function listLeaves(value: unknown, path: readonly string[] = []): [path: string, text: string][] {
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return Object.entries(value).flatMap(([name, each]) => listLeaves(each, [...path, name]));
  return [[JSON.stringify(path), formatOptionValue(path[0] ?? '', value) || '(empty)']];
}

export function listDifferences(before: Draft | undefined, after: Draft): Difference[] {
  const [old, next] = [new Map(listLeaves(before ?? {})), new Map(listLeaves(after))];
  return [...new Set([...old.keys(), ...next.keys()])]
    .filter((path) => old.get(path) !== next.get(path))
    .map((path) => ({ path: JSON.parse(path) as string[], old: old.get(path), new: next.get(path) }));
}

/** Formats the path of a setting: "Values: State: A". */
export const formatPath = ([name = '', ...others]: readonly string[]): string =>
  [getOptionName(name), ...others].join(': ');

/** Sections of a profile, with the members that they contain. */
export const SECTIONS = {
  reading: ['encoding', 'delimiter', 'skip_lines', 'skip_last_lines', 'strip_prefix'],
  columns: ['columns', 'set', 'ignore_unknown_columns'],
  values: ['values', 'active_from', 'active_until', 'date_format'],
  people: ['default_roles', 'manager_key', ...REQUIRED_COLUMNS.map((name) => `set.${name}`)],
  settings: ['dataset', 'part', 'missing', 'returning', 'mode', 'blank_cells', 'adopt', 'pattern', 'guards'],
} as const;
export type SectionName = keyof typeof SECTIONS;

/**
 * Lists the settings that a new profile needs to read the file in the same way. A file whose columns have the names of
 * the import columns needs no settings.
 */
export function listNeededSettings({ columns, pattern: _, ...others }: Draft): Difference[] {
  const own = new Set(COLUMNS.map(([name]) => toHeaderKey(name)));
  const mapped = Object.entries(columns).filter(
    ([source, target]) => !(own.has(toHeaderKey(source)) && toHeaderKey(source) === toHeaderKey(target)),
  );
  return listDifferences(undefined, { ...others, columns: Object.fromEntries(mapped) });
}
