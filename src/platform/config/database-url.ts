/** A server that a URL names. */
export interface DatabaseHost {
  /** A name or an address, an IPv6 address without its brackets. */
  host: string;
  port: number;
}

/** What a `mysql:` or `mariadb:` URL says. */
export interface DatabaseUrl {
  kind: 'mysql' | 'mariadb';
  /** In the order of preference; at least one. */
  hosts: readonly DatabaseHost[];
  user: string;
  password: string;
  database: string;
}

const DEFAULT_PORT = 3306;

/** Scheme, credentials, hosts, and the rest from the path on. */
const FORM = /^(mysql|mariadb):\/\/((?:[^/?#]*@)?)([^@/?#]+)(\/.*)$/;

/**
 * Reads `mysql://user:password@host:port,host:port/database`, percent-encoded. Each host may have a port of its own, and
 * an IPv6 address is in brackets. WHATWG URLs have one host, so each host is read as the host of a URL.
 * @returns undefined for anything else.
 */
export function readDatabaseUrl(text: string): DatabaseUrl | undefined {
  const [, kind, credentials = '', names = '', rest = ''] = FORM.exec(text) ?? [];
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
