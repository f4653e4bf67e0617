import { ApiProperty } from '@nestjs/swagger';
import { IsDefined, IsNotEmpty, IsString, MaxLength } from 'class-validator';
import { NoControlCharacters, Normalize, normalizeLineInput } from '../platform/input/field-rules.js';
import { toNormalForm } from '../platform/common/text.js';

/** Body of `POST /sessions/confirm`. Its rules reject only malformed values, not wrong passwords. */
export class ConfirmationInput {
  @ApiProperty({ example: 'correct horse battery staple', format: 'password', maxLength: 1024 })
  @IsDefined()
  @IsNotEmpty()
  @Normalize((raw) => (typeof raw === 'string' ? toNormalForm(raw, 'NFC') || null : raw))
  @IsString()
  @MaxLength(1024)
  password!: string;
}

/** Body of `POST /sessions/login`. */
export class LoginInput extends ConfirmationInput {
  @ApiProperty({
    maxLength: 254,
    example: 'admin',
    description: 'Username or e-mail address. Case-insensitive.',
  })
  @IsDefined()
  @IsNotEmpty()
  @Normalize(normalizeLineInput)
  @IsString()
  @NoControlCharacters()
  @MaxLength(254)
  username!: string;
}
