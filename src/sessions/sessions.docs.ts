import { applyDecorators } from '@nestjs/common';
import {
  ApiBody,
  ApiCookieAuth,
  ApiOperation,
  ApiParam,
  ApiProperty,
  ApiQuery,
  ApiResponse,
} from '@nestjs/swagger';
import { BodyProblems, ChangeProblems, Open, Problems, Secured } from '../platform/openapi/docs.js';
import { MAX_LIMIT, Page } from '../platform/http/page.js';
import { UuidParam } from '../platform/input/query-rules.js';
import { LoginInput } from './login.input.js';

/** The query of `GET /sessions`. */
export class SessionsQuery extends Page {
  @UuidParam({ description: 'Of this user only.' })
  user_uuid?: string;
}

export class LoggedInDto {
  @ApiProperty({ format: 'uuid' }) uuid!: string;
  @ApiProperty({ maxLength: 254, example: 'admin' }) username!: string;
}

export class SessionDto {
  @ApiProperty({ format: 'uuid' }) id!: string;
  @ApiProperty({ format: 'uuid' }) user_uuid!: string;
  @ApiProperty({ format: 'date-time' }) created!: string;
  @ApiProperty({ format: 'date-time', description: 'Extended while the session is used.' }) expires!: string;
  @ApiProperty({ maxLength: 64, example: '203.0.113.7', description: 'Address of the login.' })
  ip!: string;
  @ApiProperty({ description: 'The session of this request.' }) current!: boolean;
}

export class SessionPageDto {
  @ApiProperty({ type: 'integer', minimum: 0 }) Count!: number;
  @ApiProperty({ type: [SessionDto], maxItems: MAX_LIMIT }) Results!: SessionDto[];
}

export const DocLogin = () =>
  applyDecorators(
    ApiOperation({
      summary: 'Log in with a password',
      description:
        'Sets the session cookie. An unknown user, a blocked user and a wrong password get the same answer; ' +
        'after five failures within 15 minutes logins are refused with 429.',
    }),
    ApiBody({ type: LoginInput }),
    ApiResponse({
      status: 200,
      description: 'Logged in.',
      type: LoggedInDto,
      headers: {
        'Set-Cookie': { description: 'The session cookie.', schema: { type: 'string', maxLength: 4096 } },
      },
    }),
    Open(),
    BodyProblems('login_failed', 'cross_site', 'login_throttled'),
  );

export const DocLogout = () =>
  applyDecorators(
    ApiOperation({
      summary: 'End the session',
      description: 'The cookie is invalid from then on, on every instance.',
    }),
    ApiCookieAuth('session'),
    ApiResponse({ status: 200, description: 'Logged out.', schema: { type: 'object', example: {} } }),
    ChangeProblems(),
  );

export const DocListSessions = () =>
  applyDecorators(
    ApiOperation({
      summary: 'Active sessions, newest first',
      description: "One's own; a Webmaster and an API key see everybody's.",
    }),
    ApiQuery({ type: SessionsQuery }),
    ApiResponse({ status: 200, description: 'A page of sessions.', type: SessionPageDto }),
    Secured(),
    Problems('unauthenticated', 'forbidden'),
  );

const Ended = (description: string) =>
  applyDecorators(
    ApiResponse({ status: 204, description }),
    Secured(),
    ChangeProblems('malformed_uuid', 'not_found'),
  );

export const DocEndSession = () =>
  applyDecorators(
    ApiOperation({
      summary: 'End a session',
      description: "One's own; a Webmaster and an API key end anybody's. Effective on the next request.",
    }),
    ApiParam({ name: 'session_id', format: 'uuid', example: '0198f3a2-5d1c-7c4e-9a51-3f2b8c6d7e10' }),
    Ended('It has ended.'),
  );

export const DocEndSessionsOfUser = () =>
  applyDecorators(
    ApiOperation({
      summary: 'End all sessions of a user',
      description: 'Including the session of this request, when it is one of them.',
    }),
    ApiParam({ name: 'user_id', format: 'uuid', example: '0198f3a2-5d1c-7c4e-9a51-3f2b8c6d7e10' }),
    Ended('The user has no sessions.'),
  );
