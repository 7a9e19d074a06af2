/** A grant as administrators see it: what a user let an application do, as long as tokens of it are good. */
import type { TokenFamily } from "./token-family.ts";

export interface IssuedGrant
  extends Pick<TokenFamily, "orgId" | "id" | "applicationId" | "userId" | "createdAt">,
    Pick<TokenFamily, "scopes" | "resources" | "authorizationDetails"> {
  readonly dpopJkt: string | null;
  readonly certificateThumbprint: string | null;
  /** Milliseconds: of the last refresh, or of the first tokens. */
  readonly lastUsedAt: number;
  readonly expiresAt: number;
}

/** What its tokens are bound to (RFC 7800); null: nothing. */
export function bindingOf({
  dpopJkt,
  certificateThumbprint,
}: Pick<IssuedGrant, "dpopJkt" | "certificateThumbprint">): Readonly<Record<string, string>> | null {
  if (dpopJkt === null && certificateThumbprint === null) return null;
  return {
    ...(dpopJkt === null ? {} : { jkt: dpopJkt }),
    ...(certificateThumbprint === null ? {} : { "x5t#S256": certificateThumbprint }),
  };
}
