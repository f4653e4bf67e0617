import { Controller, Get, Header } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { Public } from '../access/decorators.js';
import { DEFAULT_AVATAR_PATH } from './rules/user-settings.js';

const PICTURE = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64" role="img" aria-label="No picture">
<rect width="64" height="64" fill="#d5dbe3"/><circle cx="32" cy="25" r="11" fill="#8593a6"/>
<path d="M10 60c2-14 11-20 22-20s20 6 22 20z" fill="#8593a6"/></svg>
`;

/** Serves the default avatar, the picture for users without an avatar. */
@ApiExcludeController()
@Controller()
export class AvatarController {
  @Get(DEFAULT_AVATAR_PATH)
  @Public()
  @Header('Content-Type', 'image/svg+xml')
  @Header('Cache-Control', 'public, max-age=86400')
  // Intranet pages may embed this picture, whose URL is in `user_avatar`. It contains no personal data.
  @Header('Cross-Origin-Resource-Policy', 'cross-origin')
  getPicture(): string {
    return PICTURE;
  }
}
