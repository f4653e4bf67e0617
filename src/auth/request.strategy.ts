import type { Request } from 'express';
import { Strategy } from 'passport';

type Done = (error: unknown, actor?: object) => void;

/** A Passport strategy that passes the request itself to `validate`. */
export class RequestStrategy extends Strategy {
  constructor(private readonly verify: (request: Request, done: Done) => void) {
    super();
  }

  override authenticate(request: Request): void {
    this.verify(request, (error, actor) => {
      if (error) this.error(error);
      else if (actor) this.success(actor);
      else this.fail('unauthenticated', 401);
    });
  }
}
