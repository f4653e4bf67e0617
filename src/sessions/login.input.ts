import { ApiProperty } from '@nestjs/swagger';
import { Normalise } from '../input/normalise.js';
import { Clean, MaxCharacters, NotBlank, OfType, Required, line } from '../input/rules.js';
import { normalForm } from '../common/text.js';

/** `POST /sessions/login`. The rules only keep nonsense away: whether the values are right is the login's matter. */
export class LoginInput {
  @ApiProperty({ maxLength: 254, example: 'admin', description: 'Username or e-mail address, in any case.' })
  @Required()
  @NotBlank()
  @Normalise(line)
  @OfType('string')
  @Clean()
  @MaxCharacters(254)
  username!: string;

  @ApiProperty({ example: 'correct horse battery staple', format: 'password', maxLength: 1024 })
  @Required()
  @NotBlank()
  @Normalise((raw) => (typeof raw === 'string' ? normalForm(raw, 'NFC') || null : raw))
  @OfType('string')
  @MaxCharacters(1024)
  password!: string;
}
