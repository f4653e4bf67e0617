import { ApiProperty } from '@nestjs/swagger';
import { describeResources } from '../discovery/resources.js';
import { ScimListDto, buildResourceDocs } from '../http/scim.docs.js';
import { MAX_COUNT } from '../protocol/list.js';

class ScimGroupDto {
  schemas!: string[];
  id!: string;
}

class ScimGroupListDto extends ScimListDto {
  @ApiProperty({ type: [ScimGroupDto], maxItems: MAX_COUNT }) Resources!: ScimGroupDto[];
}

/** Descriptions of the routes of `scim-groups.controller.ts`. */
export const DocGroup = buildResourceDocs({
  description: describeResources([]).group,
  resource: ScimGroupDto,
  list: ScimGroupListDto,
  taken: ['display_name_taken', 'external_id_taken'],
  ofChanges: ['last_webmaster'],
});

/** Members of the examples. */
export const JANE = '0198f3a2-5d1c-7c4e-9a51-3f2b8c6d7e10';
export const JOHN = '0198f3a2-5d1c-7c4e-9a51-3f2b8c6d7e11';
