/** What the visitor of a portal link may do with a provider: no more than whoever made the link (api-v1.md, "No more than you have"). */
import { findConnection, listConnections } from "../../../core/connections/connections.store.ts";
import {
  type AskedLinking,
  linkedAt,
  scopesOfDirectoryToken,
  scopesToLink,
  scopesToRoute,
} from "../../../core/connections/sign-in/link-authority.ts";
import {
  isSignInConnection,
  type SignInConnection,
} from "../../../core/connections/sign-in/sign-in-connections.ts";
import type { CoreDeps } from "../../../core/core-deps.ts";
import { mayByLink, type PortalLink } from "../../../core/portal-links/portal-link.ts";
import type { ApiScope } from "../../../core/scopes/api-scopes.ts";
import type { SignedIn } from "../../../core/sessions/session.ts";
import type { FormFailure } from "../../../html/components/record-form.ts";
import type { Messages } from "../../../html/messages/messages.ts";

/** Rolls back what a form did. */
class BeyondLink extends Error {}

const hasDirectory = async ({ database }: Pick<CoreDeps, "database">, orgId: string): Promise<boolean> =>
  (await listConnections(database.query, orgId)).some(({ kind }) => kind === "scim");

/** In the transaction of the change. @throws BeyondLink; never for an administrator */
export async function requireByLink(
  deps: Pick<CoreDeps, "database">,
  { portal }: SignedIn,
  asked: AskedLinking,
  before?: SignInConnection,
): Promise<void> {
  if (!portal) return;
  const { orgId } = portal;
  const linked = before && (await linkedAt(deps.database.query, before));
  const beside = {
    ...(before && { before }),
    linked,
    hasDirectory: await hasDirectory(deps, orgId),
  };
  requireScopes(portal, scopesToLink(asked, beside));
}

/** @param connectionId to which a domain leads from now on; null leads nowhere. @throws as `requireByLink` */
export async function requireRouteByLink(
  deps: Pick<CoreDeps, "database">,
  { portal }: SignedIn,
  connectionId: string | null,
): Promise<void> {
  if (!portal || connectionId === null) return;
  const { orgId } = portal;
  const connection = await findConnection(deps.database.query, { orgId, id: connectionId });
  // What is no such connection is told by the change itself.
  if (!connection || !isSignInConnection(connection)) return;
  const needed = scopesToRoute(connection, { hasDirectory: await hasDirectory(deps, orgId) });
  requireScopes(portal, needed);
}

/** For a token of a directory, which provisions. @throws as `requireByLink` */
export function requireTokenByLink({ portal }: SignedIn): void {
  if (portal) requireScopes(portal, scopesOfDirectoryToken);
}

function requireScopes(portal: PortalLink, needed: readonly ApiScope[]): void {
  if (!mayByLink(portal, needed)) throw new BeyondLink();
}

/** What the form says of it. */
export function beyondLink(error: unknown, { console: { portal } }: Messages): FormFailure | undefined {
  if (!(error instanceof BeyondLink)) return undefined;
  return { kind: "refused", title: portal.beyond.title, text: portal.beyond.text };
}
