import { ApiProperty } from '@nestjs/swagger';
import { linkTo } from '../../platform/openapi/docs.js';
import { DescribedBy } from '../discovery/attribute.docs.js';
import { GROUP, rollcallGroup } from '../discovery/schemas.js';
import { docsOf } from '../http/resource.docs.js';
import { ScimListDto } from '../http/scim.docs.js';
import { MAX_COUNT } from '../protocol/list.js';
import { GROUP_SCHEMA, SEARCH_MESSAGE } from '../protocol/urns.js';

/** OpenAPI descriptions of the routes of `scim-groups.controller.ts`. */

class ScimGroupDto {
  schemas!: string[];
  id!: string;
}
// No decorator of the class: in the bundle it would cost the class its name, which the OpenAPI file shows.
DescribedBy(GROUP, [rollcallGroup([])], [GROUP_SCHEMA])(ScimGroupDto);

class ScimGroupListDto extends ScimListDto {
  @ApiProperty({ type: [ScimGroupDto], maxItems: MAX_COUNT }) Resources!: ScimGroupDto[];
}

const docs = docsOf({
  name: 'group',
  resource: ScimGroupDto,
  list: ScimGroupListDto,
  taken: ['display_name_taken', 'external_id_taken'],
  ofChanges: ['last_webmaster', 'precondition_failed'],
});
const JANE = '0198f3a2-5d1c-7c4e-9a51-3f2b8c6d7e10';
const JOHN = '0198f3a2-5d1c-7c4e-9a51-3f2b8c6d7e11';

export const DocListGroups = () =>
  docs.find(
    'In the order of their creation, or of `sortBy`. A page ends early once it holds 10,000 members; with ' +
      '`excludedAttributes=members` they are not read. Filters on displayName, externalId, id, members, meta.created and ' +
      'meta.lastModified cost what they find.',
    'displayName eq "Newsroom"',
  );

export const DocSearchGroups = () =>
  docs.search('As GET, with the parameters in the body.', {
    'by member': {
      value: {
        schemas: [SEARCH_MESSAGE],
        filter: `members.value eq "${JANE}"`,
        excludedAttributes: ['members'],
      },
    },
  });

export const DocCreateGroup = () =>
  docs.create(
    {
      standard: {
        value: { schemas: [GROUP_SCHEMA], displayName: 'Press office', members: [{ value: JANE }] },
      },
      entra: { value: { schemas: [GROUP_SCHEMA], externalId: '8aa1a0c0-0001', displayName: 'Research' } },
      okta: { value: { schemas: [GROUP_SCHEMA], displayName: 'Field service', members: [] } },
    },
    {
      ...linkTo('getScimGroup', 'id', '$response.body#/id'),
      ...linkTo('getGroup', 'group_id', '$response.body#/id', 'The same group as the API shows it.'),
    },
    { description: 'Ids of nobody among the members are left out.' },
  );

export const DocGetGroup = () => docs.get({ description: 'With all its members, unless they are excluded.' });

export const DocReplaceGroup = () =>
  docs.replace(
    'What is omitted is unassigned, but for members and roles. For a key with the profile `midpoint` all that is ' +
      'omitted stays.',
    { rename: { value: { schemas: [GROUP_SCHEMA], displayName: 'Newsroom' } } },
  );

export const DocPatchGroup = () =>
  docs.patch(
    {
      summary: 'Change a group or its members',
      description:
        'Operations in their order, and all or none. A member more costs the same in a group of any size. 204 for a key ' +
        'with the profile `entra`, and where more than 1,000 members would be answered that nobody has asked for.',
    },
    {
      standard: { op: 'add', path: 'members', value: [{ value: JANE }, { value: JOHN }] },
      entra: { op: 'Remove', path: 'members', value: [{ value: JANE }] },
      okta: { op: 'remove', path: `members[value eq "${JANE}"]` },
      midpoint: { op: 'replace', path: 'displayName', value: 'Newsroom of the year' },
    },
  );

export const DocDeleteGroup = () => docs.delete('For good. Its members lose its roles.');
