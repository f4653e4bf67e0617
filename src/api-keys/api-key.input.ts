import { Normalise } from '../common/normalise.js';
import { Clean, MaxCharacters, NotBlank, OfType, Required, line } from '../common/rules.js';

/** What somebody says of a new key, at whichever door. */
export class ApiKeyInput {
  @Normalise(line)
  @Required()
  @NotBlank()
  @OfType('string')
  @MaxCharacters(255)
  @Clean()
  name!: string;
}
