import { applyDecorators } from '@nestjs/common';
import { ApiBody, ApiHeader, ApiOperation, ApiParam, ApiQuery, ApiResponse } from '@nestjs/swagger';
import {
  ChangeBodyProblems,
  ETAG,
  LOCATION,
  NEXT,
  Problems,
  Secured,
  TAGS,
  linkTo,
} from '../platform/openapi/docs.js';
import { ChangedUserInput, NewUserInput } from './rules/user.input.js';
import { UserQuery } from './search/user.query.js';
import { IGNORED_FIELDS, MAX_IGNORED_TEXT } from './accepted-fields.js';
import { UserDto, UserPageDto, UserUuidDto } from './user.view.js';

/** OpenAPI descriptions of the routes of `users.controller.ts`. */

export const TAKEN = ['username_taken', 'email_taken', 'external_id_taken', 'authname_taken'] as const;
const IGNORED = {
  [IGNORED_FIELDS]: {
    description:
      'Fields of the body that this service does not have, for an API key with `unknown_fields: "ignore"`; `+3` at the end ' +
      'means three more.',
    schema: { type: 'string', maxLength: MAX_IGNORED_TEXT },
  },
} as const;
export const UserId = () =>
  ApiParam({
    name: 'user_id',
    format: 'uuid',
    description: 'In any case.',
    example: '0198f3a2-5d1c-7c4e-9a51-3f2b8c6d7e10',
  });
const IfNoneMatch = () =>
  ApiHeader({
    name: 'If-None-Match',
    required: false,
    description: 'The ETag of the representation that the client has.',
    schema: TAGS,
  });

export const DocCreate = () =>
  applyDecorators(
    ApiOperation({
      summary: 'Create a user',
      description: 'The username, the e-mail address, the external id and each authname belong to one user.',
    }),
    ApiBody({
      type: NewUserInput,
      examples: {
        minimal: { value: { username: 'jane.doe', email: 'jane.doe@example.org' } },
        provisioned: {
          value: {
            username: 'sam.lee',
            email: 'sam.lee@example.org',
            external_id: 'HR-10042',
            firstname: 'Sam',
            surname: 'Lee',
            roles: ['Organisational user', 'Editor'],
            phone: '+44 20 7946 0958',
            authname: { saml: ['sam.lee@idp.example.org'] },
          },
        },
      },
    }),
    ApiResponse({
      status: 201,
      description: 'Created.',
      type: UserUuidDto,
      headers: { ...LOCATION, ...IGNORED },
      links: {
        ...linkTo('getUser', 'user_id', '$response.body#/uuid'),
        ...linkTo('updateUser', 'user_id', '$response.body#/uuid'),
      },
    }),
    Secured(),
    ChangeBodyProblems(...TAKEN),
  );

export const DocMe = () =>
  applyDecorators(
    ApiOperation({
      summary: 'The user of the session',
      description: '404 for an API key, which is not a user.',
    }),
    IfNoneMatch(),
    ApiResponse({ status: 200, description: 'The user.', type: UserDto, headers: ETAG }),
    ApiResponse({ status: 304, description: 'Not changed since.' }),
    Secured(),
    Problems('unauthenticated', 'forbidden', 'not_found'),
  );

export const DocGet = () =>
  applyDecorators(
    ApiOperation({ summary: 'One user', description: 'With the fields that the reader may see.' }),
    UserId(),
    IfNoneMatch(),
    ApiResponse({
      status: 200,
      description: 'The user, with the fields that the reader may see.',
      type: UserDto,
      headers: ETAG,
    }),
    ApiResponse({ status: 304, description: 'Not changed since.' }),
    Secured(),
    Problems('malformed_uuid', 'unauthenticated', 'forbidden', 'not_found'),
  );

export const DocSearch = () =>
  applyDecorators(
    ApiOperation({
      summary: 'Search users',
      description:
        'All conditions must hold. The `Link: rel="next"` header leads to the next page at constant cost. ' +
        'Readers without the Webmaster role find active users only.',
    }),
    ApiQuery({ type: UserQuery }),
    ApiResponse({
      status: 200,
      description: 'A page of users and the number of all that match.',
      type: UserPageDto,
      headers: NEXT,
    }),
    Secured(),
    Problems('unauthenticated', 'forbidden', 'search_too_broad'),
  );

export const DocChange = () =>
  applyDecorators(
    ApiOperation({
      summary: 'Change a user',
      description:
        'Only the fields that are sent change. Empty text, list, object or null clears an optional field. ' +
        'One bad field refuses the whole request. What GET returned may be sent back unchanged.',
    }),
    UserId(),
    ApiHeader({
      name: 'If-Match',
      required: false,
      description: 'The ETag of the user that was read; 412 when it has changed since.',
      schema: TAGS,
    }),
    ApiBody({
      type: ChangedUserInput,
      examples: {
        phone: { value: { phone: '+44 20 7946 0999' } },
        block: { value: { status: 'Blocked' } },
        clear: { value: { about_me: '', social_media: {} } },
      },
    }),
    ApiResponse({
      status: 200,
      description: 'The user after the change.',
      type: UserDto,
      headers: { ...ETAG, ...IGNORED },
    }),
    Secured(),
    ChangeBodyProblems(
      'malformed_uuid',
      'field_not_permitted',
      'self_block',
      'not_found',
      ...TAKEN,
      'last_webmaster',
      'precondition_failed',
      'login_throttled',
      'fuse_blown',
    ),
  );
