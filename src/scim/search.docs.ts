import { applyDecorators } from '@nestjs/common';
import { ApiBody, ApiOperation, ApiProperty, ApiResponse } from '@nestjs/swagger';
import {
  ListQueryDocs,
  ScimBodyProblems,
  ScimListDto,
  ScimProblems,
  ScimSearchDto,
} from './http/scim.docs.js';
import { MAX_COUNT } from './protocol/list.js';
import { SEARCH_MESSAGE } from './protocol/urns.js';

/** OpenAPI descriptions of the routes of `search.controller.ts`. */

class ResourceListDto extends ScimListDto {
  @ApiProperty({
    type: 'array',
    items: { type: 'object', description: 'A user or a group; `meta.resourceType` tells.' },
    maxItems: MAX_COUNT,
  })
  Resources!: object[];
}

const OF_LISTS = ['invalid_value', 'invalid_filter', 'too_many', 'invalid_cursor', 'invalid_count'] as const;
const found = () => ApiResponse({ status: 200, description: 'A page of resources.', type: ResourceListDto });
const described = (summary: string) =>
  ApiOperation({
    summary,
    description:
      'Users, then groups, of each type as far as the scopes of the key go. An attribute that a type lacks matches none ' +
      'of it; `meta.resourceType eq "Group"` chooses one.',
  });

export const DocFindAll = () =>
  applyDecorators(
    described('Find users and groups'),
    ListQueryDocs('externalId eq "HR-20001"'),
    found(),
    ScimProblems(...OF_LISTS),
  );

export const DocSearchAll = () =>
  applyDecorators(
    described('Find users and groups by POST'),
    ApiBody({
      type: ScimSearchDto,
      examples: {
        groups: { value: { schemas: [SEARCH_MESSAGE], filter: 'meta.resourceType eq "Group"', count: 10 } },
      },
    }),
    found(),
    ScimBodyProblems(...OF_LISTS),
  );
