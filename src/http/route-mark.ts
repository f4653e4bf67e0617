import type { ExecutionContext } from '@nestjs/common';

/**
 * What a decorator says of a route, for guards to read. Nest's `SetMetadata` and `Reflector` do the same, but walk a
 * chain of prototypes with every request.
 */
export class RouteMark<T> {
  private readonly marks = new Map<unknown, T>();

  /** The decorator. */
  set(value: T): MethodDecorator {
    return (_target, _name, { value: handler }) => {
      this.marks.set(handler, value);
    };
  }

  /** Undefined for a route without the decorator. */
  of(context: ExecutionContext): T | undefined {
    return this.marks.get(context.getHandler());
  }
}
