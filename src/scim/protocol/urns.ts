/** The URNs of schemas (RFC 7643 §10) and messages (RFC 7644 §8.2). */
export const USER_SCHEMA = 'urn:ietf:params:scim:schemas:core:2.0:User';
export const GROUP_SCHEMA = 'urn:ietf:params:scim:schemas:core:2.0:Group';
export const ENTERPRISE_SCHEMA = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';
export const ROLLCALL_USER_SCHEMA = 'urn:ietf:params:scim:schemas:extension:rollcall:2.0:User';
export const ROLLCALL_GROUP_SCHEMA = 'urn:ietf:params:scim:schemas:extension:rollcall:2.0:Group';

export const SCHEMA_SCHEMA = 'urn:ietf:params:scim:schemas:core:2.0:Schema';
export const RESOURCE_TYPE_SCHEMA = 'urn:ietf:params:scim:schemas:core:2.0:ResourceType';
export const PROVIDER_CONFIG_SCHEMA = 'urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig';

export const LIST_MESSAGE = 'urn:ietf:params:scim:api:messages:2.0:ListResponse';
export const ERROR_MESSAGE = 'urn:ietf:params:scim:api:messages:2.0:Error';
export const PATCH_MESSAGE = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';
export const SEARCH_MESSAGE = 'urn:ietf:params:scim:api:messages:2.0:SearchRequest';
export const BULK_REQUEST_MESSAGE = 'urn:ietf:params:scim:api:messages:2.0:BulkRequest';
export const BULK_RESPONSE_MESSAGE = 'urn:ietf:params:scim:api:messages:2.0:BulkResponse';
