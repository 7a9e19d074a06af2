/** The client that a request names: by its id, or by the address of its metadata document. */
import { isUuid } from "@signet/protocol/hash";
import type { Application } from "../../../core/applications/application.ts";
import type { ApplicationDirectory } from "../../../core/applications/applications.ts";
import type { ClientDocuments } from "../../../core/client-metadata/client-documents.ts";

export interface NamedClientDeps {
  readonly applications: Pick<ApplicationDirectory, "find">;
  readonly clientDocuments: ClientDocuments;
}

/** @returns the reason for the log where there is none */
export async function findNamedClient(
  { applications, clientDocuments }: NamedClientDeps,
  orgId: string,
  clientId: string,
): Promise<Application | string> {
  if (isUuid(clientId)) return (await applications.find(orgId, clientId)) ?? "unknown client";
  return clientId.startsWith("https:") ? clientDocuments.resolve(orgId, clientId) : "unknown client";
}
