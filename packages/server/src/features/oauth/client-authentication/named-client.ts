/** The client that a request names: by its id, or by the address of its metadata document. */
import { isUuid } from "@signet/protocol/hash";
import type { Application } from "../../../core/applications/application.ts";
import type { ApplicationDirectory } from "../../../core/applications/applications.ts";
import type { ClientDocuments } from "../../../core/client-metadata/client-documents.ts";
import type { CoreDeps } from "../../../core/core-deps.ts";
import type { RateLimits } from "../../../core/rate-limits/rate-limits.ts";
import type { addressOf } from "../../../http/listeners/client-address.ts";
import { limitNetwork } from "../network-limit.ts";

export interface NamedClientDeps extends CoreDeps {
  readonly applications: Pick<ApplicationDirectory, "find">;
  readonly clientDocuments: ClientDocuments;
  readonly rateLimits: Pick<RateLimits, "client-document-address">;
}

/**
 * @param from whoever asks: one network makes us call only so many addresses that it has made up
 * @returns the reason for the log where there is none
 * @throws OAuthError temporarily_unavailable, 429
 */
export async function findNamedClient(
  deps: NamedClientDeps,
  orgId: string,
  clientId: string,
  from: Parameters<typeof addressOf>[0],
): Promise<Application | string> {
  if (isUuid(clientId)) return (await deps.applications.find(orgId, clientId)) ?? "unknown client";
  if (!clientId.startsWith("https:")) return "unknown client";
  const limit = deps.rateLimits["client-document-address"];
  return deps.clientDocuments.resolve(orgId, clientId, () =>
    limitNetwork(deps, orgId, { limit, from, what: "new clients" }),
  );
}
