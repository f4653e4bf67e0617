import { IsNotEmpty } from 'class-validator';
import { Normalise, Required, line } from '../../platform/input/rules.js';
import { Line, Roles } from '../../users/rules/fields.js';
import { MAX_GROUP_EXTERNAL_ID, MAX_GROUP_NAME } from '../../groups/group.js';

/** What SCIM writes of a group, in its names: the rules are those of a user's texts. */
export class ScimGroupInput {
  @Required()
  @Line({ max: MAX_GROUP_NAME, example: 'Newsroom' })
  @Normalise(line)
  @IsNotEmpty()
  displayName!: string;

  @Line({ max: MAX_GROUP_EXTERNAL_ID, example: 'f2c1d7a8' })
  externalId?: string | null;

  @Roles({ example: ['Editor'] })
  roles?: string[] | null;
}
