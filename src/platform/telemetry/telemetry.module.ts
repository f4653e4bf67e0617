import { Global, Module } from '@nestjs/common';
import { Log } from './log.js';
import { Metrics } from './metrics.js';

@Global()
@Module({ providers: [Log, Metrics], exports: [Log, Metrics] })
export class TelemetryModule {}
