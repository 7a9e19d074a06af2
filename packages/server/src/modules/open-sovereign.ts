/** Opens the queue of signing requests, and the signer that puts tokens into it. */
import type { PoolSigning } from "../core/tokens/pool-signing.ts";
import { type OpenSigning, openSigning } from "../features/sovereign/requests/open-signing.ts";
import { queueSigner } from "../features/sovereign/requests/queue-signer.ts";
import type { Service } from "./open-service.ts";
import { signingRequestEncryption } from "./sealed-columns.ts";

export interface Sovereign {
  readonly signing: OpenSigning;
  readonly poolSigning: PoolSigning;
}

/** Close `signing` before the service. */
export async function openSovereign(service: Service): Promise<Sovereign> {
  const { clock, database, ledger, masterKeys, signingPools } = service;
  const signing = await openSigning({
    database,
    ledger,
    pools: signingPools,
    count: service.activity.count,
    encryption: signingRequestEncryption(masterKeys),
    // A test's clock; otherwise all nodes use the database's.
    ...(clock === Date.now ? {} : { clock }),
  });
  return { signing, poolSigning: queueSigner(signing) };
}
