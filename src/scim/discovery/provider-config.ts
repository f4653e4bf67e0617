import { SCIM_BULK_BODY } from '../../platform/http/body-reader.js';
import { DEFAULT_COUNT, MAX_COUNT } from '../protocol/list.js';
import { PROVIDER_CONFIG_SCHEMA } from '../protocol/urns.js';

/** Operations of one Bulk. */
export const MAX_OPERATIONS = 1000;

/** What the service can do (RFC 7643 §5, RFC 9865 §3). @param base the absolute URL of `/scim/v2`. */
export function providerConfig(base: string) {
  return {
    schemas: [PROVIDER_CONFIG_SCHEMA],
    patch: { supported: true },
    bulk: { supported: true, maxOperations: MAX_OPERATIONS, maxPayloadSize: SCIM_BULK_BODY.maxBytes },
    filter: { supported: true, maxResults: MAX_COUNT },
    changePassword: { supported: true },
    sort: { supported: true },
    etag: { supported: true },
    pagination: {
      cursor: true,
      index: true,
      defaultPaginationMethod: 'index',
      defaultPageSize: DEFAULT_COUNT,
      maxPageSize: MAX_COUNT,
    },
    authenticationSchemes: [
      {
        type: 'oauthbearertoken',
        name: 'API key',
        description: 'An API key of the service, sent as a bearer token.',
        specUri: 'https://www.rfc-editor.org/rfc/rfc6750',
        primary: true,
      },
    ],
    meta: { resourceType: 'ServiceProviderConfig', location: `${base}/ServiceProviderConfig` },
  };
}
