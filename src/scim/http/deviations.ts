import { Injectable } from '@nestjs/common';
import type { Actor } from '../../access/actor.js';
import { Metrics } from '../../platform/telemetry/metrics.js';
import type { CountDeviation } from '../protocol/input.js';
import { profileOf } from './profile-rules.js';

/** Counts what clients send otherwise than the RFC has it, by kind and profile, so that an operator sees what a provider does. */
@Injectable()
export class Deviations {
  constructor(private readonly metrics: Metrics) {}

  /** To be told of each deviation in one request. */
  of(actor: Actor): CountDeviation {
    const profile = profileOf(actor);
    return (kind) => {
      this.metrics.scimDeviation(kind, profile);
    };
  }
}
