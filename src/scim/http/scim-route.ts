import { Controller, applyDecorators } from '@nestjs/common';
import { ApiBearerAuth, ApiSecurity, ApiTags } from '@nestjs/swagger';
import { ByKey } from '../../access/decorators.js';

/** The path of all routes of SCIM, beside that of the API. */
export const SCIM_PATH = 'scim/v2';

/** A controller of SCIM: an API key as bearer token; `scimAnswers` gives its answers their media type. @param path below `/scim/v2`. */
export const ScimController = (path = '') =>
  applyDecorators(
    Controller(path === '' ? SCIM_PATH : `${SCIM_PATH}/${path}`),
    ByKey(),
    ApiTags('scim'),
    ApiBearerAuth('scim'),
    ApiSecurity('api_key'),
  );
