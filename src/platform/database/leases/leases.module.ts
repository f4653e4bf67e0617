import { Module } from '@nestjs/common';
import { LeaseRepository } from './lease.repository.js';
import { Leases } from './leases.service.js';

@Module({ providers: [LeaseRepository, Leases], exports: [Leases] })
export class LeasesModule {}
