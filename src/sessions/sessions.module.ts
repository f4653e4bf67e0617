import { Module } from '@nestjs/common';
import { LoginThrottleRepository } from './login-throttle.repository.js';
import { LoginThrottle } from './login-throttle.service.js';
import { SessionCookie } from './session-cookie.js';
import { SessionRepository } from './session.repository.js';
import { SessionsController } from './sessions.controller.js';
import { SessionsService } from './sessions.service.js';

@Module({
  controllers: [SessionsController],
  providers: [SessionsService, SessionCookie, SessionRepository, LoginThrottle, LoginThrottleRepository],
  exports: [SessionsService, SessionCookie, LoginThrottle],
})
export class SessionsModule {}
