import { Get, Param } from '@nestjs/common';
import { Requires } from '../../access/decorators.js';
import { ProblemError } from '../../platform/common/errors.js';
import { Accepts, CheckedQuery } from '../../platform/http/input.guard.js';
import { ScimController } from '../http/scim-format.js';
import { quoted } from '../protocol/errors.js';
import { LIST_MESSAGE } from '../protocol/urns.js';
import { DocConfig, DocSchema, DocSchemas, DocType, DocTypes } from './discovery.docs.js';
import { providerConfig } from './provider-config.js';
import { resourceTypeView } from './resource-types.js';
import { Resources } from './resources.js';
import { schemaView, schemasOf } from './schemas.js';

/** What the service can do, for clients to find out by themselves (RFC 7644, section 4). Any valid key may ask. */
@ScimController()
export class DiscoveryController {
  constructor(private readonly resources: Resources) {}

  @Get('ServiceProviderConfig')
  @DocConfig()
  @Requires('scim.discover')
  @Accepts({ anyQuery: true })
  config(@CheckedQuery() query: object) {
    assertUnfiltered(query);
    return providerConfig(this.resources.base);
  }

  @Get('ResourceTypes')
  @DocTypes()
  @Requires('scim.discover')
  @Accepts({ anyQuery: true })
  types(@CheckedQuery() query: object) {
    assertUnfiltered(query);
    return listOf(this.typeViews());
  }

  @Get('ResourceTypes/:type')
  @DocType()
  @Requires('scim.discover')
  @Accepts({ anyQuery: true })
  type(@Param('type') type: string, @CheckedQuery() query: object) {
    assertUnfiltered(query);
    return named(this.typeViews(), type);
  }

  @Get('Schemas')
  @DocSchemas()
  @Requires('scim.discover')
  @Accepts({ anyQuery: true })
  schemas(@CheckedQuery() query: object) {
    assertUnfiltered(query);
    return listOf(this.schemaViews());
  }

  @Get('Schemas/:urn')
  @DocSchema()
  @Requires('scim.discover')
  @Accepts({ anyQuery: true })
  schema(@Param('urn') urn: string, @CheckedQuery() query: object) {
    assertUnfiltered(query);
    return named(this.schemaViews(), urn);
  }

  private typeViews() {
    return [this.resources.user, this.resources.group].map((type) =>
      resourceTypeView(type, this.resources.base),
    );
  }

  private schemaViews() {
    return schemasOf(this.resources).map((schema) => schemaView(schema, this.resources.base));
  }
}

/** RFC 7644, section 4: a filter here is forbidden, not ignored. */
function assertUnfiltered(query: object): void {
  if (Object.keys(query).some((name) => name.toLowerCase() === 'filter'))
    throw new ProblemError('forbidden', 'There is nothing to filter here.');
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

function named<T extends { id: string }>(resources: readonly T[], id: string): T {
  const found = resources.find((each) => each.id.toLowerCase() === id.toLowerCase());
  if (!found) throw new ProblemError('not_found', `There is no ${quoted(id)}.`);
  return found;
}
