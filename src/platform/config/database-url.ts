export interface DatabaseHost {
  /** Host name or address. An IPv6 address has no brackets. */
  host: string;
  port: number;
}

export interface DatabaseUrl {
  kind: 'mysql' | 'mariadb';
  /** At least one host, in order of preference. */
  hosts: readonly DatabaseHost[];
  user: string;
  password: string;
  database: string;
}

const DEFAULT_PORT = 3306;

/** Pattern with groups for the scheme, the credentials, the hosts, and the path with everything after it. */
const DATABASE_URL = /^(mysql|mariadb):\/\/((?:[^/?#]*@)?)([^@/?#]+)(\/.*)$/;

/**
 * Parses `mysql://user:password@host:port,host:port/database`, percent-encoded. Each host may have its own port, and IPv6
 * addresses need brackets. A WHATWG URL has only one host, so each host is parsed in a URL of its own.
 * @returns undefined for an invalid URL.
 */
export function parseDatabaseUrl(text: string): DatabaseUrl | undefined {
  const [, kind, credentials = '', names = '', rest = ''] = DATABASE_URL.exec(text) ?? [];
  if (kind !== 'mysql' && kind !== 'mariadb') return undefined;
  try {
    const urls = names.split(',').map((name) => new URL(`${kind}://${credentials}${name}${rest}`));
    const [first] = urls;
    if (!first || urls.some(({ hostname, hash, search }) => hostname === '' || hash + search !== ''))
      return undefined;
    const database = decodeURIComponent(first.pathname.slice(1));
    if (!/^[^/]+$/.test(database)) return undefined;
    return {
      kind,
      hosts: urls.map(({ hostname, port }) => ({
        host: hostname.replace(/^\[|\]$/g, ''),
        port: port === '' ? DEFAULT_PORT : Number(port),
      })),
      user: decodeURIComponent(first.username),
      password: decodeURIComponent(first.password),
      database,
    };
  } catch {
    return undefined;
  }
}
