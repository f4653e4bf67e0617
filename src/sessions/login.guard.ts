import { type ExecutionContext, Injectable } from '@nestjs/common';
import { AuthGuard } from '@nestjs/passport';
import type { Request } from 'express';
import { ProblemError, validationFailed } from '../common/errors.js';
import { readInput } from '../input/read-input.js';
import type { JsonObject } from '../common/json.js';
import { LoginInput } from './login.input.js';

/** Whom the `local` strategy lets in. */
export interface LoggedIn {
  uuid: string;
  username: string;
  /** Value of the session cookie. */
  token: string;
}

/** Passport's local strategy behind a check of the body, so that a missing field is told as one. */
@Injectable()
export class LoginGuard extends AuthGuard('local') {
  override canActivate(context: ExecutionContext) {
    const request = context.switchToHttp().getRequest<Request>();
    const { value, errors } = readInput(LoginInput, request.body as JsonObject);
    if (errors.length > 0) throw validationFailed(errors);
    request.body = value;
    return super.canActivate(context);
  }

  override handleRequest<T>(error: unknown, user: T | false): T {
    if (error) throw error as Error;
    if (!user) throw new ProblemError('login_failed', 'Username or password is wrong.');
    return user;
  }
}
