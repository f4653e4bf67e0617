const NUMBER = new Intl.NumberFormat('en');

/** Formats a number: 12,345. */
export const formatNumber = (value: number): string => NUMBER.format(value);

/** Formats a number with its noun: "1 row", "12 rows". */
export const formatCount = (value: number, one: string, many = `${one}s`): string =>
  `${formatNumber(value)} ${value === 1 ? one : many}`;

/** Replaces control characters and invisible characters in a file name, as the service does. */
export const showFileName = (name: string): string =>
  name.replace(/[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}]/gu, '\ufffd');

/** Texts of codes that would be unclear when spelled out. */
const WORDS: Readonly<Record<string, string>> = {
  'session.created': 'Signed in',
  'session.ended': 'Session ended',
  'session.login_failed': 'Sign-in failed',
  'api_key.new_address': 'API key used from a new address',
  key: 'API key',
};

/** Formats a code as text: "Needs approval" for `needs_approval`. */
export function formatCode(code: string): string {
  const known = WORDS[code];
  if (known) return known;
  const text = code.replace(/[_.]/g, ' ').replace(/^api /, 'API ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Names of fields whose code does not read as a text (`formatCode`). */
const LABELS: Readonly<Record<string, string>> = {
  find: 'Search',
  fulltext_search: 'Search',
  has_external_id: 'External ID set',
  managed_by: 'Data set',
  dataset: 'Data set',
  actor_kind: 'Actor type',
  user_id: 'User',
  uuid: 'UUID',
  user_uuid: 'User',
  email: 'E-mail',
  external_id: 'External ID',
  firstname: 'First name',
  authname: 'Login names',
  user_avatar: 'Picture',
  manager_uuid: 'Manager',
  hide_email: 'Hide e-mail',
  linkedin: 'LinkedIn',
  group_roles: 'Roles from groups',
  last_import: 'Last written by import',
};

/** Returns the display name of a field, a part of a field or a filter. */
export function getLabel(field: string): string {
  const name = field.replace(/^(change|social_media|where)\./, '');
  return LABELS[name] ?? formatCode(name);
}

/** Formats a field value as one line of text. Returns '' for an empty value. */
export function formatValue(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'string' || typeof value === 'number') return String(value);
  if (Array.isArray(value)) return value.map(formatValue).join(', ');
  return Object.entries(value)
    .filter(([, each]) => formatValue(each) !== '')
    .map(([name, each]) => `${LABELS[name] ?? name}: ${formatValue(each)}`)
    .join('; ');
}

/** Formats a number of bytes: "18 kB". */
export function formatSize(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  return bytes < 1e6 ? `${(bytes / 1e3).toFixed(bytes < 1e4 ? 1 : 0)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}
