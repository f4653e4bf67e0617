import { All, Get, Param, type Type, applyDecorators } from '@nestjs/common';
import { ApiExcludeEndpoint, ApiParam } from '@nestjs/swagger';
import { ProblemError } from '../../platform/common/errors.js';
import { CheckedQuery } from '../../platform/http/input.guard.js';
import { DescribeRoute, describeJson } from '../../platform/openapi/route-docs.js';
import { RequiresScim, ScimController } from '../http/scim-format.js';
import { quote } from '../protocol/errors.js';
import { buildListResponse } from '../protocol/list.js';
import { USER_SCHEMA } from '../protocol/urns.js';
import {
  ProviderConfigDto,
  ResourceTypeDto,
  ResourceTypeListDto,
  SchemaDto,
  SchemaListDto,
  buildProviderConfig,
  toTypeView,
  toSchemaView,
  schemasOf,
} from './discovery.view.js';
import { Resources } from './resources.js';

const AnyKey = () => RequiresScim('scim.discover');

/**
 * Declares a documented GET route that any valid API key may call.
 * @param docs the documentation of the path parameter, if the path contains one.
 */
const Discovery = (
  path: string,
  id: string,
  summary: string,
  type: Type<unknown>,
  ...docs: MethodDecorator[]
) =>
  applyDecorators(
    Get(path),
    DescribeRoute(id, summary, {
      answer: describeJson('The requested types, schemas or configuration.', type),
      more: docs,
      errors: docs.length > 0 ? ['not_found'] : [],
    }),
    AnyKey(),
  );

const NameParam = (name: string, maxLength: number, example: string) =>
  ApiParam({ name, schema: { type: 'string', maxLength, example } });

/** Lists the features, resource types and schemas that the service supports (RFC 7644, section 4). */
@ScimController()
export class DiscoveryController {
  constructor(private readonly resources: Resources) {}

  @Discovery('ServiceProviderConfig', 'getScimConfig', 'Get the service capabilities', ProviderConfigDto)
  getConfig(@CheckedQuery() query: object) {
    assertUnfiltered(query);
    return buildProviderConfig(this.resources.base);
  }

  @Discovery('ResourceTypes', 'listScimResourceTypes', 'List all resource types', ResourceTypeListDto)
  listTypes(@CheckedQuery() query: object) {
    assertUnfiltered(query);
    return buildList(this.buildTypeViews());
  }

  @Discovery(
    'ResourceTypes/:type',
    'getScimResourceType',
    'Get a resource type',
    ResourceTypeDto,
    NameParam('type', 64, 'User'),
  )
  getType(@Param('type') type: string, @CheckedQuery() query: object) {
    assertUnfiltered(query);
    return findById(this.buildTypeViews(), type);
  }

  @Discovery('Schemas', 'listScimSchemas', 'List all schemas', SchemaListDto)
  listSchemas(@CheckedQuery() query: object) {
    assertUnfiltered(query);
    return buildList(this.buildSchemaViews());
  }

  @Discovery('Schemas/:urn', 'getScimSchema', 'Get a schema', SchemaDto, NameParam('urn', 255, USER_SCHEMA))
  getSchema(@Param('urn') urn: string, @CheckedQuery() query: object) {
    assertUnfiltered(query);
    return findById(this.buildSchemaViews(), urn);
  }

  /** Refuses all methods (RFC 7644, section 3.11), because an API key is not a user. */
  @All('Me')
  @ApiExcludeEndpoint()
  @AnyKey()
  refuseMe(): never {
    throw new ProblemError('not_implemented', '/Me is not supported, because an API key is not a user.');
  }

  private buildTypeViews() {
    const { user, group, base } = this.resources;
    return [user, group].map((type) => toTypeView(type, base));
  }

  private buildSchemaViews() {
    return schemasOf(this.resources).map((schema) => toSchemaView(schema, this.resources.base));
  }
}

/** Rejects a request with a filter (RFC 7644, section 4). */
function assertUnfiltered(query: object): void {
  if (Object.keys(query).some((name) => name.toLowerCase() === 'filter'))
    throw new ProblemError('forbidden', 'This list cannot be filtered. Remove the filter.');
}

const buildList = <T>(resources: readonly T[]) =>
  buildListResponse({ startIndex: 1 }, { resources, total: resources.length, next: undefined });

function findById<T extends { id: string }>(resources: readonly T[], id: string): T {
  const found = resources.find((each) => each.id.toLowerCase() === id.toLowerCase());
  if (!found) throw new ProblemError('not_found', `${quote(id)} does not exist.`);
  return found;
}
