/** Opens the queue of signing requests, and the signer that puts tokens into it. */
import { spreadEncryption } from "../core/encryption/spread-encryption.ts";
import type { PoolSigning } from "../core/tokens/pool-signing.ts";
import { queueSigner } from "../features/sovereign/requests/signing/queue-signer.ts";
import {
  openSovereignRequests,
  type SovereignRequests,
} from "../features/sovereign/requests/sovereign-requests.ts";
import type { Service } from "./open-service.ts";

export interface Sovereign {
  readonly requests: SovereignRequests;
  readonly poolSigning: PoolSigning;
}

/** Close `requests` before the service. */
export async function openSovereign(service: Service): Promise<Sovereign> {
  const { clock, database, masterKey, signingPools } = service;
  const requests = await openSovereignRequests({
    database,
    pools: signingPools,
    count: service.activity.count,
    // Separate keys: encrypting for every token would wear out the key for data at rest.
    encryption: spreadEncryption(masterKey, "signing-request"),
    // A test's clock; otherwise all nodes use the database's.
    ...(clock === Date.now ? {} : { clock }),
  });
  const poolSigning = queueSigner({
    clock: requests.clock,
    database,
    requests,
    pools: signingPools,
  });
  return { requests, poolSigning };
}
