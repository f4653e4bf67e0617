import { Module } from '@nestjs/common';
import { LeasesModule } from '../leases/leases.module.js';
import { AuditController } from './audit.controller.js';
import { AuditRepository } from './audit.repository.js';
import { AuditService } from './audit.service.js';
import { AuditSealRepository } from './audit-seal.repository.js';
import { AuditWalkRepository } from './audit-walk.repository.js';
import { SealVerifier } from './seal-verifier.service.js';
import { Sealer } from './sealer.service.js';

@Module({
  imports: [LeasesModule],
  controllers: [AuditController],
  providers: [AuditService, AuditRepository, AuditWalkRepository, AuditSealRepository, Sealer, SealVerifier],
  exports: [AuditService, Sealer, SealVerifier],
})
export class AuditModule {}
