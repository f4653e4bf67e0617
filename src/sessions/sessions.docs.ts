import { applyDecorators } from '@nestjs/common';
import { ApiBody, ApiCookieAuth, ApiOperation, ApiProperty, ApiResponse } from '@nestjs/swagger';
import { BodyProblems, Problems } from '../common/docs.js';
import { LoginInput } from './login.input.js';

class LoggedInDto {
  @ApiProperty({ format: 'uuid' }) uuid!: string;
  @ApiProperty({ example: 'admin' }) username!: string;
}

export const DocLogin = () =>
  applyDecorators(
    ApiOperation({
      summary: 'Log in with a password',
      description:
        'Sets the session cookie. Unknown user, blocked user and wrong password get the same answer; ' +
        'after five failures in 15 minutes further ones are refused with 429.',
    }),
    ApiBody({ type: LoginInput }),
    ApiResponse({
      status: 200,
      description: 'Logged in.',
      type: LoggedInDto,
      headers: { 'Set-Cookie': { description: 'The session cookie.', schema: { type: 'string' } } },
    }),
    BodyProblems('login_failed', 'cross_site', 'login_throttled'),
  );

export const DocLogout = () =>
  applyDecorators(
    ApiOperation({
      summary: 'End the session',
      description: 'The cookie is worthless from then on, everywhere.',
    }),
    ApiCookieAuth('session'),
    ApiResponse({ status: 200, description: 'Logged out.', schema: { type: 'object', example: {} } }),
    Problems('unauthenticated', 'forbidden', 'cross_site'),
  );
