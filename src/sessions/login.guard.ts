import { type ExecutionContext, Injectable, createParamDecorator } from '@nestjs/common';
import { AuthGuard } from '@nestjs/passport';
import type { Request } from 'express';
import { ProblemError, createValidationError } from '../platform/common/errors.js';
import { readInput } from '../platform/input/read-input.js';
import type { JsonObject } from '../platform/common/json.js';
import { LoginInput } from './login.input.js';
import type { LoggedInDto } from './session.view.js';

export interface LoggedIn extends LoggedInDto {
  token: string;
  /** Tokens for the device cookie. Empty if the client is not a browser. */
  deviceTokens: readonly string[];
}

/** Injects the user who has just logged in, as set by `LoginGuard`. */
export const CurrentLogin = createParamDecorator(
  (_: unknown, context: ExecutionContext) => context.switchToHttp().getRequest<Request>().user,
);

/**
 * Authenticates a login with the local strategy of Passport. The body is validated first, so that missing fields are
 * reported as field errors.
 */
@Injectable()
export class LoginGuard extends AuthGuard('local') {
  override canActivate(context: ExecutionContext) {
    const request = context.switchToHttp().getRequest<Request<object, unknown, JsonObject>>();
    const { value, errors } = readInput(LoginInput, request.body);
    if (errors.length > 0) throw createValidationError(errors);
    request.body = { username: value.username, password: value.password };
    return super.canActivate(context);
  }

  override handleRequest<T>(error: Error | null, user: T | false): T {
    if (error) throw error;
    if (!user) throw new ProblemError('login_failed', 'Username or password is wrong.');
    return user;
  }
}
