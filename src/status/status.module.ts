import { Module } from '@nestjs/common';
import { ProblemsController } from './problems.controller.js';
import { StatusController } from './status.controller.js';
import { StatusService } from './status.service.js';

@Module({ controllers: [StatusController, ProblemsController], providers: [StatusService] })
export class StatusModule {}
