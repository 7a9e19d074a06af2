/** What the addresses of a connection have in common: which one it is, and what is bound to one start. */
import { isUuid } from "@signet/protocol/hash";
import { findConnection } from "../../../core/connections/connections.store.ts";
import {
  isSignInConnection,
  type SignInConnection,
} from "../../../core/connections/sign-in/sign-in-connections.ts";
import type { SignInKind } from "../../../core/connections/sign-in/sign-in-settings.ts";
import type { Macs } from "../../../core/encryption/macs.ts";
import type { FirstSignInCookies } from "../../../http/cookies/browser-cookies.ts";
import { type BrowserDeps, orgPath, type Visit } from "../authorize/browser.ts";
import type { Flow } from "../authorize/flow.ts";
import { pageFlow } from "../authorize/page-request.ts";
import type { StartSecrets, Upstream } from "./upstream.ts";

export interface ConnectionDeps extends BrowserDeps {
  /** By kind; undefined for one that nobody signs in by yet. */
  readonly upstreams: Readonly<Partial<Record<SignInKind, Upstream>>>;
  /** Under keys that are derived from the master keys for this purpose. */
  readonly startMacs: Macs;
  /** As `startMacs`. */
  readonly codeMacs: Macs;
  readonly firstSignIns: FirstSignInCookies;
}

export interface KnownConnection {
  readonly connection: SignInConnection;
  readonly upstream: Upstream;
}

/** @returns undefined unless the address names one that is in use */
export async function enabledConnection(
  deps: ConnectionDeps,
  visit: Visit,
): Promise<KnownConnection | undefined> {
  const known = await namedConnection(deps, visit);
  return known?.connection.enabled ? known : undefined;
}

/** Whether it is in use or not. */
export async function namedConnection(
  deps: ConnectionDeps,
  visit: Visit,
): Promise<KnownConnection | undefined> {
  const id = connectionId(visit);
  return id === undefined ? undefined : findKnownConnection(deps, visit.organisation.id, id);
}

/** @returns undefined for what is no id */
export function connectionId({ request }: Pick<Visit, "request">): string | undefined {
  const { id = "" } = request.params as { id?: string };
  return isUuid(id) ? id.toLowerCase() : undefined;
}

export async function findEnabledConnection(
  deps: Pick<ConnectionDeps, "database" | "upstreams">,
  orgId: string,
  id: string,
): Promise<KnownConnection | undefined> {
  const known = await findKnownConnection(deps, orgId, id);
  return known?.connection.enabled ? known : undefined;
}

async function findKnownConnection(
  { database, upstreams }: Pick<ConnectionDeps, "database" | "upstreams">,
  orgId: string,
  id: string,
): Promise<KnownConnection | undefined> {
  const connection = await findConnection(database.query, { orgId, id });
  if (!connection || !isSignInConnection(connection)) return undefined;
  const upstream = upstreams[connection.kind];
  return upstream && { connection, upstream };
}

/** Of a sign-in that no application has asked for. */
export const accountFlow = (deps: ConnectionDeps, { organisation }: Visit): Flow =>
  pageFlow(organisation.id, { place: "account", path: orgPath(organisation, "account") }, deps.clock(), {});

/** Made of the `state`, so that nothing secret is stored. */
export const startSecrets = (macs: Macs, { orgId, id }: SignInConnection, state: string): StartSecrets => ({
  state,
  nonce: macs.of(`nonce|${orgId}|${id}|${state}`),
  verifier: macs.of(`verifier|${orgId}|${id}|${state}`),
});
