/**
 * Clients whose client_id is the address of their metadata document. The document is read through the outbound guard, kept as long
 * as its server says within limits, and a fault is never kept. What tokens, codes and consents refer to is a row of the application
 * table with the address as its id.
 */
import type { Db } from "../../db/open.ts";
import type { Application } from "../applications/application.ts";
import {
  findApplication,
  insertApplication,
  replaceApplication,
} from "../applications/applications.store.ts";
import type { ApplicationDirectory } from "../applications/applications.ts";
import { lockOrganisation } from "../organisations/organisations.store.ts";
import { type Outbound, OutboundFailure } from "../outbound/outbound.ts";
import { type RecordDeps, recordChange } from "../record-changes.ts";
import { type DescribedClient, FaultyDocument, readClientDocument } from "./client-document.ts";
import { isClientIdUrl } from "./client-id-url.ts";
import type { ClientPolicyDirectory } from "./client-policies.ts";
import { takesClient } from "./client-policy.ts";
import { countDocumentClients, deleteUnusedClients } from "./document-clients.store.ts";

export interface ClientDocuments {
  /**
   * The client, with its document read where what is kept of it is too old.
   * @param beforeRead where the policy takes any host, and an address that somebody has made up would be called; throwing reads nothing
   * @returns the reason for the log where the address is none, the policy does not take it, or its document is faulty
   */
  resolve(orgId: string, clientId: string, beforeRead?: () => Promise<void>): Promise<Application | string>;
}

export interface ClientDocumentDeps extends RecordDeps {
  readonly outbound: Outbound;
  readonly applications: Pick<ApplicationDirectory, "find">;
  readonly clientPolicies: ClientPolicyDirectory;
}

const MAX_BYTES = 5 * 1_024;
const MIN_AGE_SECONDS = 60;
const MAX_AGE_SECONDS = 86_400;
const DEFAULT_AGE_SECONDS = 300;
const KEPT = 10_000;
/** Of an organisation. Whoever can write documents at an allowed host can name any number of clients. */
const MAX_CLIENTS = 10_000;
/** A day. */
const UNUSED_MS = 86_400_000;

export function clientDocuments(deps: ClientDocumentDeps): ClientDocuments {
  /** Until when the row is as fresh as its document. */
  const fresh = new Map<string, number>();
  const reading = new Map<string, Promise<Application | string>>();

  const read = async (orgId: string, clientId: string): Promise<Application | string> => {
    const document = await fetchDocument(deps, orgId, clientId);
    if (typeof document === "string") return document;
    const stored = await storeClient(deps, orgId, clientId, document.client);
    if (stored !== undefined) return stored;
    const key = `${orgId} ${clientId}`;
    fresh.delete(key);
    if (fresh.size >= KEPT) fresh.delete(fresh.keys().next().value as string);
    fresh.set(key, deps.clock() + document.seconds * 1_000);
    return (await deps.applications.find(orgId, clientId)) ?? "the client is disabled";
  };

  return {
    resolve: async (orgId, clientId, beforeRead) => {
      if (!isClientIdUrl(clientId)) return "the client_id is no address of a document";
      const policy = await deps.clientPolicies.of(orgId);
      if (!takesClient(policy, clientId)) return "the policy does not take it";
      const key = `${orgId} ${clientId}`;
      if ((fresh.get(key) ?? 0) > deps.clock()) {
        const known = await deps.applications.find(orgId, clientId);
        if (known) return known;
      }
      if (policy.mode === "any" && !reading.has(key)) await beforeRead?.();
      // Those who come together share one call.
      const running = reading.get(key) ?? read(orgId, clientId).finally(() => reading.delete(key));
      reading.set(key, running);
      return running;
    },
  };
}

async function fetchDocument(
  { outbound }: ClientDocumentDeps,
  orgId: string,
  clientId: string,
): Promise<{ readonly client: DescribedClient; readonly seconds: number } | string> {
  try {
    const headers = { accept: "application/json" };
    const answer = await outbound.call(orgId, clientId, { headers, maxBytes: MAX_BYTES });
    if (answer.status !== 200) return `the document's server answers ${answer.status}`;
    if (!isJson(answer.contentType)) return "the document's type is not JSON";
    return {
      client: readClientDocument(clientId, answer.body.toString("utf8")),
      seconds: keptSeconds(answer.cacheControl),
    };
  } catch (error) {
    if (error instanceof FaultyDocument || error instanceof OutboundFailure) return error.message;
    throw error;
  }
}

const isJson = (contentType: string): boolean =>
  /^application\/(?:[a-z0-9.!#$&^_-]+\+)?json$/i.test(contentType.split(";")[0]?.trim() ?? "");

/** RFC 9111 §5.2.2, within our limits: a document that may not be kept is kept a minute. */
function keptSeconds(cacheControl: string): number {
  const directives = cacheControl
    .toLowerCase()
    .split(",")
    .map((one) => one.trim());
  if (directives.some((one) => one === "no-store" || one.startsWith("no-cache"))) return MIN_AGE_SECONDS;
  const age = directives.find((one) => /^max-age="?\d{1,10}"?$/.test(one))?.replace(/\D/g, "");
  return Math.min(MAX_AGE_SECONDS, Math.max(MIN_AGE_SECONDS, Number(age ?? DEFAULT_AGE_SECONDS)));
}

/** @returns the reason for the log where it is not stored */
function storeClient(
  deps: ClientDocumentDeps,
  orgId: string,
  clientId: string,
  client: DescribedClient,
): Promise<string | undefined> {
  return deps.database.transaction(async (tx) => {
    const before = await findApplication(tx, orgId, clientId);
    const now = deps.clock();
    const event = { orgId, at: now, actor: "system", target: clientId };
    if (before) {
      const isSame = JSON.stringify(contentOf(before)) === JSON.stringify(client);
      if (isSame) return undefined;
      if (await replaceApplication(tx, { ...before, ...client, updatedAt: now, version: before.version + 1 }))
        await recordChange(tx, deps, "application", { ...event, action: "application.changed" });
      return undefined;
    }
    // Two nodes may read a new one at the same time.
    await lockOrganisation(tx, orgId);
    if (await findApplication(tx, orgId, clientId)) return undefined;
    if (!(await hasRoom(tx, orgId, now))) return "the organisation has too many clients";
    await insertApplication(tx, {
      ...{ orgId, id: clientId, ...client, secrets: [], source: "metadata-document" },
      ...{ createdAt: now, updatedAt: now, disabledAt: null, version: 1 },
      ...{ homeOrgId: null, grantedScopes: null },
    });
    const details = { name: client.name, source: "metadata-document" };
    await recordChange(tx, deps, "application", { ...event, action: "application.created", details });
    return undefined;
  });
}

/** Those that nobody has used make room. */
const hasRoom = async (tx: Db, orgId: string, now: number): Promise<boolean> =>
  (await countDocumentClients(tx, orgId)) < MAX_CLIENTS ||
  (await deleteUnusedClients(tx, { orgId, before: now - UNUSED_MS, limit: 1_000 })) > 0;

const contentOf = ({ name, clientType, settings }: Application): DescribedClient => ({
  ...{ name, clientType, settings },
});
