export interface DatabaseHost {
  /** Host name or address. An IPv6 address has no brackets. */
  host: string;
  port: number;
}

export interface DatabaseUrl {
  /** At least one host, in order of preference. */
  hosts: readonly DatabaseHost[];
  user: string;
  password: string;
  database: string;
}

const DEFAULT_PORT = 3306;

const DATABASE_URL = /^(mysql|mariadb):\/\/((?:[^/?#]*@)?)([^@/?#]+)(\/.*)$/;

/**
 * Parses `mysql://user:password@host:port,host:port/database`, percent-encoded. IPv6 addresses need brackets. A WHATWG
 * URL has only one host, so each host is parsed as a separate URL.
 * @returns undefined for an invalid URL.
 */
export function parseDatabaseUrl(text: string): DatabaseUrl | undefined {
  const [, kind, credentials = '', names = '', rest = ''] = DATABASE_URL.exec(text) ?? [];
  if (kind === undefined) return undefined;
  try {
    const urls = names.split(',').map((name) => new URL(`${kind}://${credentials}${name}${rest}`));
    const [first] = urls;
    if (!first || urls.some(({ hostname, hash, search }) => hostname === '' || hash + search !== ''))
      return undefined;
    const database = decodeURIComponent(first.pathname.slice(1));
    if (!/^[^/]+$/.test(database)) return undefined;
    return {
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
