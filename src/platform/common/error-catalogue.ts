/**
 * All errors that a client can see (RFC 9457 problem details). The meaning and the status of a code never change.
 * The page `/problems/<code>` shows the `remedy`. In the OpenAPI file, it is the example value of the field `detail`, so
 * a remedy must not refer to that field.
 */
export const CATALOGUE = {
  malformed_json: {
    status: 400,
    title: 'The request body is not a JSON object',
    remedy: 'Send one valid JSON object, encoded as UTF-8.',
  },
  malformed_request: {
    status: 400,
    title: 'The request is not valid HTTP',
    remedy:
      'Check the program that builds the request: the request line, the headers, and the length or chunks of the body.',
  },
  malformed_uuid: {
    status: 400,
    title: 'The identifier in the path is not a UUID',
    remedy: 'Use the `uuid` that the service returned. A UUID has 8-4-4-4-12 hexadecimal digits.',
  },
  invalid_parameter: {
    status: 400,
    title: 'A query parameter or header is unknown or invalid',
    remedy: 'Correct or remove the parameter or header. The page `/docs` lists the valid values.',
  },
  invalid_syntax: {
    status: 400,
    title: 'The SCIM request is malformed',
    remedy: 'Format the request as RFC 7644 defines.',
  },
  invalid_value: {
    status: 400,
    title: 'A value is not valid for its SCIM attribute',
    remedy: 'Send a valid value for the attribute. Nothing was changed.',
  },
  invalid_filter: {
    status: 400,
    title: 'The SCIM filter is not valid',
    remedy: 'Correct the filter. RFC 7644, section 3.4.2.2, defines the syntax.',
  },
  invalid_path: {
    status: 400,
    title: 'The SCIM path is malformed or names an unknown attribute',
    remedy:
      'Use an attribute that `/scim/v2/Schemas` lists. Write the schema URN before an attribute of an extension.',
  },
  no_target: {
    status: 400,
    title: 'The SCIM path matches no value',
    remedy: 'Read the resource again. It does not contain the element that the path selects.',
  },
  mutability: {
    status: 400,
    title: 'The SCIM attribute cannot be changed this way',
    remedy: 'Leave the attribute out of the request. It is read-only, or it must always have a value.',
  },
  too_many: {
    status: 400,
    title: 'The SCIM filter would read too many resources',
    remedy: 'Add a condition on an attribute with an index, such as `externalId`, or send fewer operations.',
  },
  invalid_cursor: {
    status: 400,
    title: 'The SCIM cursor does not belong to this list',
    remedy: 'Start again with an empty `cursor`. Keep the filter and the order the same for all pages.',
  },
  invalid_count: {
    status: 400,
    title: 'The count of a SCIM request with a cursor is not valid',
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
    remedy: 'Check the username and the password. Blocked users and unknown users get the same error.',
  },
  forbidden: {
    status: 403,
    title: 'Not permitted',
    remedy: 'The credentials are valid, but do not permit this request. Ask a Webmaster.',
  },
  field_not_permitted: {
    status: 403,
    title: 'A field cannot be changed with these credentials',
    remedy: 'Leave out fields that only a Webmaster may change, or ask a Webmaster to change them.',
  },
  cross_site: {
    status: 403,
    title: 'A change from another site was rejected',
    remedy: 'Send the request from a page of this service, or use an API key instead of the cookie.',
  },
  insufficient_scope: {
    status: 403,
    title: 'The API key does not have the required rights',
    remedy: 'Use an API key with the required rights, or log in as a Webmaster.',
  },
  network_not_permitted: {
    status: 403,
    title: 'The API key cannot be used from this network',
    remedy: 'Use the key from one of its networks, or create a key for this network.',
  },
  self_block: {
    status: 403,
    title: 'Users cannot block themselves',
    remedy: 'Ask another Webmaster to block this user.',
  },
  password_change_required: {
    status: 403,
    title: 'The password must be replaced',
    remedy:
      'Send a new `password` with the `current_password` in `PUT /users/{user_id}`. Until then, the session may only read and sign out.',
  },
  reauthentication_required: {
    status: 403,
    title: 'The session must be confirmed',
    remedy:
      'Send the password to `POST /sessions/confirm`, or log in again. Then repeat the request within 10 minutes.',
  },
  not_found: {
    status: 404,
    title: 'Not found',
    remedy: 'Check the path, its version (`/api/0.3/`) and the identifier.',
  },
  method_not_allowed: {
    status: 405,
    title: 'The path does not support this method',
    remedy: 'Use one of the methods in the `Allow` header.',
  },
  username_taken: {
    status: 409,
    title: 'The username belongs to another user',
    remedy: 'The error contains the uuid of the other user. Update that user, or choose another name.',
  },
  email_taken: {
    status: 409,
    title: 'The e-mail address belongs to another user',
    remedy: 'The error contains the uuid of the other user. Update that user, or choose another address.',
  },
  external_id_taken: {
    status: 409,
    title: 'The external id belongs to another user',
    remedy: 'The error contains the uuid of the other user. Update that user instead of creating a new one.',
  },
  authname_taken: {
    status: 409,
    title: 'An authname belongs to another user',
    remedy:
      'The error contains the uuid of the other user. Remove the login name from that user, or choose another login name.',
  },
  display_name_taken: {
    status: 409,
    title: 'The name belongs to another group',
    remedy: 'The error contains the id of the other group. Update that group, or choose another name.',
  },
  last_webmaster: {
    status: 409,
    title: 'The last active Webmaster cannot be removed',
    remedy: 'Make another user a Webmaster first.',
  },
  wrong_state: {
    status: 409,
    title: 'The current state of the record does not allow this action',
    remedy: 'Read the record again, and choose an action that its current state allows.',
  },
  file_lost: {
    status: 410,
    title: 'The stored file of the import no longer exists',
    remedy: 'Import the file again. `GET …/rows?outcome=error` returns the failed rows with their errors.',
  },
  precondition_failed: {
    status: 412,
    title: 'The record has changed since it was read',
    remedy: 'Read the record again, and repeat the change on the current version.',
  },
  too_large: {
    status: 413,
    title: 'The request body is too large',
    remedy:
      'Send a smaller body. JSON may have at most 1 MiB and 20,000 values, or 4 MiB and 200,000 values for SCIM groups and bulk requests. A login may have at most 4 KiB, and a file 100 MiB.',
  },
  unsupported_media_type: {
    status: 415,
    title: 'The media type of the request body is not supported',
    remedy: 'Send `Content-Type: application/json`, or `text/csv` or `multipart/form-data` for a file.',
  },
  expectation_failed: {
    status: 417,
    title: 'The service cannot meet the expectation in the Expect header',
    remedy: 'Leave out the `Expect` header, or send `Expect: 100-continue`.',
  },
  validation_failed: {
    status: 422,
    title: 'One or more fields are not valid',
    remedy:
      'Correct the fields in `errors`, which lists up to 100 errors with their codes. Nothing was changed.',
  },
  request_timeout: {
    status: 408,
    title: 'The request did not arrive in time',
    remedy: 'Send the whole body without pauses, and check the connection to the service.',
  },
  headers_too_large: {
    status: 431,
    title: 'The headers of the request are too large',
    remedy:
      'Send fewer cookies or a shorter query. The request line and the headers may have at most 16 KiB in total.',
  },
  search_too_broad: {
    status: 422,
    title: 'The search takes too long',
    remedy:
      'The search took longer than `SEARCH_TIMEOUT` and was stopped. Use a longer word, or add an exact filter or a time range.',
  },
  rate_limited: {
    status: 429,
    title: 'Too many requests',
    remedy:
      'Wait for the number of seconds in the `Retry-After` header. The `RateLimit` header shows how many requests are left.',
  },
  fuse_blown: {
    status: 429,
    title: 'This API key has blocked too many users',
    remedy:
      'Find out why the key blocks so many users. Wait for the number of seconds in the `Retry-After` header, or call `POST /api_keys/{id}/fuse` as a Webmaster or with another key.',
  },
  login_throttled: {
    status: 429,
    title: 'Too many failed logins',
    remedy: 'Wait for the number of seconds in the `Retry-After` header, then try again.',
  },
  internal: {
    status: 500,
    title: 'Internal error',
    remedy:
      'Report the value of `X-Request-Id` to the operator of the service. The log contains the details.',
  },
  not_implemented: {
    status: 501,
    title: 'The service does not support this part of SCIM',
    remedy: 'Use only features that `/ServiceProviderConfig` lists as supported.',
  },
  unavailable: {
    status: 503,
    title: 'Temporarily unavailable',
    remedy:
      'Repeat the request after the number of seconds in the `Retry-After` header. A request with an `Idempotency-Key` takes effect only once.',
  },
  database_replaced: {
    status: 503,
    title: 'The files of the database were replaced',
    remedy:
      'Repeat the request after the operator has started the service again. Operators find the reason in the log, and the remedies in the reliability guide.',
  },
  outcome_unknown: {
    status: 503,
    title: 'The change may or may not have been applied',
    remedy:
      'The connection to the database broke before the database confirmed the change. Repeat the request with the same `Idempotency-Key`, or read the record to see its current state.',
  },
} as const satisfies Record<string, { status: number; title: string; remedy: string }>;
