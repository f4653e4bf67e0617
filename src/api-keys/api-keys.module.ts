import { Module } from '@nestjs/common';
import { AuditNames } from '../audit/audit-names.service.js';
import { AuditModule } from '../audit/audit.module.js';
import { ApiKeyRepository } from './api-key.repository.js';
import { ApiKeysController } from './api-keys.controller.js';
import { ApiKeysService } from './api-keys.service.js';
import { KeyFuseRepository } from './fuse/key-fuse.repository.js';
import { KeyFuse } from './fuse/key-fuse.service.js';

@Module({
  imports: [AuditModule],
  controllers: [ApiKeysController],
  providers: [ApiKeysService, ApiKeyRepository, KeyFuse, KeyFuseRepository],
  exports: [ApiKeysService, KeyFuse],
})
export class ApiKeysModule {
  constructor(names: AuditNames) {
    names.register(['key', 'api_key'], { table: 'api_keys', id: 'id', name: 'name' });
  }
}
