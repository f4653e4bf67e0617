import { Module } from '@nestjs/common';
import { AuditModule } from '../audit/audit.module.js';
import { ApiKeyRepository } from './api-key.repository.js';
import { ApiKeysService } from './api-keys.service.js';

@Module({ imports: [AuditModule], providers: [ApiKeysService, ApiKeyRepository], exports: [ApiKeysService] })
export class ApiKeysModule {}
