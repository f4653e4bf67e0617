import { Module } from '@nestjs/common';
import { AuditCountsRepository } from './audit-counts.repository.js';
import { AuditCounts } from './audit-counts.service.js';
import { AuditNames } from './audit-names.service.js';
import { AuditController } from './audit.controller.js';
import { AuditService } from './audit.service.js';
import { AuditSealRepository } from './audit-seal.repository.js';
import { AuditSearchRepository } from './audit-search.repository.js';
import { SealVerifier } from './seal-verifier.service.js';
import { Sealer } from './sealer.service.js';

@Module({
  controllers: [AuditController],
  providers: [
    AuditService,
    AuditNames,
    AuditSearchRepository,
    AuditSealRepository,
    AuditCounts,
    AuditCountsRepository,
    Sealer,
    SealVerifier,
  ],
  exports: [AuditCounts, AuditNames, AuditService, Sealer, SealVerifier],
})
export class AuditModule {}
