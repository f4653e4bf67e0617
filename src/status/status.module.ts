import { Module } from '@nestjs/common';
import { ImportModule } from '../import/import.module.js';
import { ProblemsController } from './problems.controller.js';
import { StatusController } from './status.controller.js';
import { StatusService } from './status.service.js';

@Module({
  imports: [ImportModule],
  controllers: [StatusController, ProblemsController],
  providers: [StatusService],
})
export class StatusModule {}
