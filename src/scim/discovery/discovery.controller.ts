import { Delete, Get, Param, Patch, Post, Put, type Type, applyDecorators } from '@nestjs/common';
import { ApiExcludeController, ApiParam } from '@nestjs/swagger';
import { Requires } from '../../access/decorators.js';
import { ProblemError } from '../../platform/common/errors.js';
import { CheckedQuery } from '../../platform/http/input.guard.js';
import { Doc, describeJson } from '../../platform/openapi/route-docs.js';
import { AcceptsScim, ScimController } from '../http/scim-format.js';
import { quoted } from '../protocol/errors.js';
import { LIST_MESSAGE, USER_SCHEMA } from '../protocol/urns.js';
import {
  ProviderConfigDto,
  ResourceTypeDto,
  ResourceTypeListDto,
  SchemaDto,
  SchemaListDto,
  providerConfig,
  resourceTypeView,
  schemaView,
  schemasOf,
} from './discovery.view.js';
import { Resources } from './resources.js';

/** Declares a route for any valid key. */
const Discovers = () => applyDecorators(Requires('scim.discover'), AcceptsScim());

/** Declares a documented route for any valid key. @param more the documentation of its path parameter. */
const Discovery = (
  path: string,
  id: string,
  summary: string,
  type: Type<unknown>,
  ...more: MethodDecorator[]
) => {
  const errors = more.length > 0 ? (['not_found'] as const) : [];
  return applyDecorators(
    Get(path),
    Doc(id, summary, { answer: describeJson(summary, type), more, errors }),
    Discovers(),
  );
};

const NameParam = (name: string, maxLength: number, example: string) =>
  ApiParam({ name, schema: { type: 'string', maxLength, example } });

/** Describes the capabilities of the service to clients (RFC 7644, section 4). */
@ScimController()
export class DiscoveryController {
  constructor(private readonly resources: Resources) {}

  @Discovery('ServiceProviderConfig', 'getScimConfig', 'Capabilities of the service', ProviderConfigDto)
  config(@CheckedQuery() query: object) {
    assertUnfiltered(query);
    return providerConfig(this.resources.base);
  }

  @Discovery('ResourceTypes', 'listScimResourceTypes', 'All resource types', ResourceTypeListDto)
  types(@CheckedQuery() query: object) {
    assertUnfiltered(query);
    return listOf(this.typeViews());
  }

  @Discovery(
    'ResourceTypes/:type',
    'getScimResourceType',
    'One resource type',
    ResourceTypeDto,
    NameParam('type', 64, 'User'),
  )
  type(@Param('type') type: string, @CheckedQuery() query: object) {
    assertUnfiltered(query);
    return findById(this.typeViews(), type);
  }

  @Discovery('Schemas', 'listScimSchemas', 'All schemas', SchemaListDto)
  schemas(@CheckedQuery() query: object) {
    assertUnfiltered(query);
    return listOf(this.schemaViews());
  }

  @Discovery('Schemas/:urn', 'getScimSchema', 'One schema', SchemaDto, NameParam('urn', 255, USER_SCHEMA))
  schema(@Param('urn') urn: string, @CheckedQuery() query: object) {
    assertUnfiltered(query);
    return findById(this.schemaViews(), urn);
  }

  private typeViews() {
    const { user, group, base } = this.resources;
    return [user, group].map((type) => resourceTypeView(type, base));
  }

  private schemaViews() {
    return schemasOf(this.resources).map((schema) => schemaView(schema, this.resources.base));
  }
}

/** Rejects filters. RFC 7644, section 4 forbids them here, so they must not be ignored. */
function assertUnfiltered(query: object): void {
  if (Object.keys(query).some((name) => name.toLowerCase() === 'filter'))
    throw new ProblemError('forbidden', 'This list cannot be filtered. Remove the filter.');
}

function listOf<T>(resources: readonly T[]) {
  return {
    schemas: [LIST_MESSAGE],
    totalResults: resources.length,
    itemsPerPage: resources.length,
    startIndex: 1,
    Resources: resources,
  };
}

function findById<T extends { id: string }>(resources: readonly T[], id: string): T {
  const found = resources.find((each) => each.id.toLowerCase() === id.toLowerCase());
  if (!found) throw new ProblemError('not_found', `${quoted(id)} does not exist.`);
  return found;
}

/**
 * `/Me` (RFC 7644, section 3.11), which is always rejected because a key is not a user. The OpenAPI file omits
 * these routes.
 */
@ApiExcludeController()
@ScimController('Me')
export class MeController {
  @Get()
  @Discovers()
  get(): never {
    throw notAUser();
  }

  @Post()
  @Discovers()
  post(): never {
    throw notAUser();
  }

  @Put()
  @Discovers()
  put(): never {
    throw notAUser();
  }

  @Patch()
  @Discovers()
  patch(): never {
    throw notAUser();
  }

  @Delete()
  @Discovers()
  delete(): never {
    throw notAUser();
  }
}

const notAUser = (): ProblemError =>
  new ProblemError('not_implemented', '/Me is not supported, because an API key is not a user.');
