/**
 * What a request may cost before it is known to be good (interface §9): every limit of the service's edge, each with its
 * reason. `docs/security.md` has them as a table. Two more are settings: `REQUEST_TIMEOUT_SECONDS`, the time in which a
 * JSON body must arrive, and `MAX_CONNECTIONS`.
 */
const KIB = 1024;
const MIB = 1024 * KIB;

/** Request line and headers: Node's own default, written down so that no option of the process raises it. */
export const HEADER_BYTES = 16 * KIB;

/**
 * The end of `X-Forwarded-For` that is read, in characters: every proxy adds an address behind those before it, and each
 * that is trusted is parsed. There are no twenty proxies in a row.
 */
export const FORWARDED_CHARACTERS = 1000;

/** A connection that has not sent all headers of a request by then is closed. Headers are a few packets. */
export const HEADERS_MILLIS = 15_000;

/** The longest that any request may take to arrive: a file of 100 MiB over a slow line. */
export const FILE_MILLIS = 15 * 60 * 1000;

/** How often deadlines are checked. Node's default of 30 s would treble the deadline of headers. */
export const CHECK_MILLIS = 2000;

/** What a route takes as its JSON body. */
export interface BodyRules {
  /** As sent, and again when unpacked. */
  maxBytes: number;
  /** Values, members and items included: parsed, they take more memory and time than their bytes. */
  maxValues: number;
  /** Whether the body may have a `Content-Encoding`. */
  compressed: boolean;
  /** Media types that it may have, in small letters. */
  types: readonly string[];
}

/** Room for the longest user many times over; 85,000 members took 115 ms of the main thread. */
export const JSON_BODY: BodyRules = {
  maxBytes: MIB,
  maxValues: 20_000,
  compressed: true,
  types: ['application/json'],
};

/** SCIM (RFC 7644, section 3.1): providers send either. */
export const SCIM_BODY = { types: ['application/scim+json', 'application/json'] } as const;

/** A group with some ten thousand members. */
export const SCIM_GROUP_BODY = { ...SCIM_BODY, maxBytes: 4 * MIB, maxValues: 200_000 } as const;

/** A thousand users or groups (RFC 7644, section 3.7.4). */
export const SCIM_BULK_BODY = { ...SCIM_GROUP_BODY } as const;

/** A login is a name and a password. Anybody may send one, so it costs a packet or two and no decompressor. */
export const LOGIN_BODY = { maxBytes: 4 * KIB, maxValues: 100, compressed: false } as const;

/** Deeper than anything in the interface, and shallow enough for any code that walks a value. */
export const JSON_DEPTH = 32;

/**
 * Memory of all bodies of this process that are arriving or being worked on: buffers, unpacked bytes and the windows of
 * decompressors. Room for 64 of the largest at once. Logins cannot fill it: they are refused at 4 KiB each.
 */
export const IN_FLIGHT_BYTES = 64 * MIB;

/** What an upload holds of its file: the part that is being received, and its copy on the way to the database. */
export const UPLOAD_BYTES = MIB;

/** Most memory of a decompressor besides its output: window and state, which for Brotli the sender chooses (RFC 7932, §9.1). */
export const WINDOW_BYTES = { gzip: 64 * KIB, deflate: 64 * KIB, br: 16 * MIB } as const;

/** Bodies that are unpacked at the same time. The threads that do it also read files and hash passwords. */
export const UNPACKED_AT_ONCE = 2;

/**
 * How long a connection stays open, and how much more is received and thrown away, after a request was answered before
 * it was read: a client that is still sending would lose the answer if the connection were reset under it (RFC 9112, §9.6).
 */
export const LINGER_MILLIS = 2000;
export const LINGER_BYTES = MIB;
