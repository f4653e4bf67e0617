/**
 * The catalogue of errors (RFC 9457 problem details): a code never changes its meaning or its status.
 * `remedy` is shown on the page `/problems/<code>`.
 */
export const CATALOGUE = {
  malformed_json: {
    status: 400,
    title: 'The request body is not a JSON object',
    remedy: 'Send one JSON object in UTF-8. `detail` says what is wrong.',
  },
  malformed_request: {
    status: 400,
    title: 'The request is not valid HTTP',
    remedy:
      'Look at what builds the request: its first line, its headers, the length or the chunks of its body.',
  },
  malformed_uuid: {
    status: 400,
    title: 'The identifier in the path is not a UUID',
    remedy: 'Use the `uuid` that the service returned: 8-4-4-4-12 hexadecimal digits.',
  },
  invalid_parameter: {
    status: 400,
    title: 'A query parameter or header is unknown or has a bad value',
    remedy: '`detail` names the parameter and the values it takes. Nothing was searched.',
  },
  invalid_syntax: {
    status: 400,
    title: 'The SCIM request is not built as it must be',
    remedy: '`detail` names the part that is wrong. RFC 7644 shows how each request is built.',
  },
  invalid_value: {
    status: 400,
    title: 'A value does not suit its SCIM attribute',
    remedy: '`detail` names the attribute and what it takes. Nothing was changed.',
  },
  invalid_filter: {
    status: 400,
    title: 'The SCIM filter cannot be read',
    remedy: '`detail` names the position in the filter and what is wrong there.',
  },
  invalid_path: {
    status: 400,
    title: 'The SCIM path cannot be read, or names no attribute',
    remedy: 'Use an attribute of `/scim/v2/Schemas`, one of an extension with the URN of its schema.',
  },
  no_target: {
    status: 400,
    title: 'The SCIM path leads to no value',
    remedy: 'Read the resource again: the element that the path names is not in it.',
  },
  mutability: {
    status: 400,
    title: 'The SCIM attribute cannot be changed so',
    remedy: 'Leave the attribute out: it is read-only, or must keep a value.',
  },
  too_many: {
    status: 400,
    title: 'The SCIM filter would look at too many resources',
    remedy: 'Add a condition on one of the attributes that `detail` names, joined by `and`.',
  },
  invalid_cursor: {
    status: 400,
    title: 'The SCIM cursor is not one of this list',
    remedy: 'Begin again with an empty `cursor`; filter and order stay the same from page to page.',
  },
  invalid_count: {
    status: 400,
    title: 'The SCIM count of a cursor page is not valid',
    remedy: 'Send an integer as `count`.',
  },
  unauthenticated: {
    status: 401,
    title: 'Credentials are missing or not valid',
    remedy: 'Send a valid `X-API-Key` header, or log in and send the session cookie.',
  },
  login_failed: {
    status: 401,
    title: 'Login failed',
    remedy: 'Check user name and password. A blocked user and an unknown one get this same answer.',
  },
  forbidden: {
    status: 403,
    title: 'Not permitted',
    remedy: 'The credentials are good but their role does not permit this. Ask a Webmaster.',
  },
  field_not_permitted: {
    status: 403,
    title: 'A field may not be changed with these credentials',
    remedy: 'Leave out the fields that `detail` names, or have a Webmaster change them.',
  },
  cross_site: {
    status: 403,
    title: 'A change from another site was refused',
    remedy: 'Send the request from a page of this service, or use an API key instead of the cookie.',
  },
  insufficient_scope: {
    status: 403,
    title: 'The API key is too narrow for this',
    remedy: 'Use an API key that has what `detail` names, or the session of a Webmaster.',
  },
  network_not_permitted: {
    status: 403,
    title: 'The API key may not be used from this network',
    remedy: 'Use the key from one of its networks, or create one with the networks that are needed.',
  },
  self_block: {
    status: 403,
    title: 'Nobody may block themselves',
    remedy: 'Have another Webmaster block this user.',
  },
  not_found: {
    status: 404,
    title: 'Not found',
    remedy: 'Check the path, its version (`/api/0.3/`) and the identifier.',
  },
  method_not_allowed: {
    status: 405,
    title: 'The path exists but not with this method',
    remedy: 'Use one of the methods of the `Allow` header.',
  },
  username_taken: {
    status: 409,
    title: 'The username belongs to another user',
    remedy: '`conflicts` holds the uuid of the other user: update that one, or choose another name.',
  },
  email_taken: {
    status: 409,
    title: 'The e-mail address belongs to another user',
    remedy: '`conflicts` holds the uuid of the other user: update that one, or choose another address.',
  },
  external_id_taken: {
    status: 409,
    title: 'The external id belongs to another user',
    remedy: '`conflicts` holds the uuid of the other user: update that one instead of creating.',
  },
  authname_taken: {
    status: 409,
    title: 'An authname belongs to another user',
    remedy: '`conflicts` holds the uuid of the other user. A login name of a method belongs to one user.',
  },
  display_name_taken: {
    status: 409,
    title: 'The name belongs to another group',
    remedy: '`conflicts` holds the uuid of the other group: update that one, or choose another name.',
  },
  last_webmaster: {
    status: 409,
    title: 'The last active Webmaster must stay',
    remedy: 'Make another user Webmaster first.',
  },
  wrong_state: {
    status: 409,
    title: 'The record is not in a state in which this can be done',
    remedy: 'Read the record again: `detail` names its state and those in which this can be done.',
  },
  file_lost: {
    status: 410,
    title: 'The stored file of the import is gone',
    remedy: 'Import the file again; `GET …/rows?outcome=error` has its failed rows with their errors.',
  },
  precondition_failed: {
    status: 412,
    title: 'The record has changed since it was read',
    remedy: 'Read the record again and repeat the change on what it holds now.',
  },
  too_large: {
    status: 413,
    title: 'The request body is too large',
    remedy: 'A JSON body may have at most 1 MiB and 20,000 values, a login 4 KiB, a file 100 MiB.',
  },
  unsupported_media_type: {
    status: 415,
    title: 'The media type of the request body is not supported',
    remedy: 'Send `Content-Type: application/json`, or for a file `text/csv` or `multipart/form-data`.',
  },
  expectation_failed: {
    status: 417,
    title: 'The expectation of the request cannot be met',
    remedy: 'Send no `Expect` header, or `Expect: 100-continue`.',
  },
  validation_failed: {
    status: 422,
    title: 'One or more fields are not valid',
    remedy: '`errors` names the bad fields, each with its code (at most 100). Nothing was changed.',
  },
  request_timeout: {
    status: 408,
    title: 'The request did not arrive in time',
    remedy: 'Send the whole body at once; check the connection to the service.',
  },
  headers_too_large: {
    status: 431,
    title: 'The headers of the request are too large',
    remedy: 'Request line and headers may have 16 KiB together. Send fewer cookies or a shorter query.',
  },
  search_too_broad: {
    status: 422,
    title: 'The search would cost too much',
    remedy:
      'It was stopped after `SEARCH_TIMEOUT`. `detail` names the word or filter with the most matches: make it longer, or add an exact filter.',
  },
  rate_limited: {
    status: 429,
    title: 'Too many requests',
    remedy: 'Wait for the seconds of the `Retry-After` header; the `RateLimit` header shows what is left.',
  },
  fuse_blown: {
    status: 429,
    title: 'This key has blocked too many users',
    remedy:
      'Find out why: `detail` has the numbers. Wait for the seconds of the `Retry-After` header, or have a Webmaster, or another key, call `POST /api_keys/{id}/fuse`.',
  },
  login_throttled: {
    status: 429,
    title: 'Too many failed logins',
    remedy: 'Wait for the seconds of the `Retry-After` header.',
  },
  internal: {
    status: 500,
    title: 'Internal error',
    remedy: 'The fault is ours. Report the `request_id`; the log holds the details.',
  },
  not_implemented: {
    status: 501,
    title: 'SCIM has this, and the service does not',
    remedy: '`/ServiceProviderConfig` says what the service can do.',
  },
  unavailable: {
    status: 503,
    title: 'Temporarily unavailable',
    remedy:
      'Repeat the request after the seconds of the `Retry-After` header; with an `Idempotency-Key` it takes effect once.',
  },
  outcome_unknown: {
    status: 503,
    title: 'Nobody knows whether the change was made',
    remedy:
      'The answer of the database to a commit was lost. Repeat the request with the same `Idempotency-Key`, or read the record to see whether the change was made.',
  },
} as const satisfies Record<string, { status: number; title: string; remedy: string }>;
