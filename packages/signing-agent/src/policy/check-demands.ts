/** What a policy demands of the binding, the authorization details and the actor of an access token (modern-oauth.md §7). */
import { quoted, Refusal } from "../agent/refusal.ts";
import type { RequestContext } from "../service/signing-service.ts";
import { type DecodedToken, isSameJson } from "./decode-token.ts";
import type { ClientPolicy } from "./policy.ts";

const confirmations = { dpop: ["jkt"], mtls: ["x5t#S256"], any: ["jkt", "x5t#S256"] } as const;

/** The token itself is what counts; the request must say the same. */
export function checkBinding(
  { claims }: DecodedToken,
  { binding: required }: ClientPolicy,
  { binding }: RequestContext,
): void {
  const { cnf } = claims as { cnf?: Readonly<Record<string, unknown>> };
  if (binding !== undefined && !isSameJson(binding, cnf ?? null))
    throw new Refusal("binding", "the binding of the request differs from that of the token");
  if (required && !confirmations[required].some((name) => typeof cnf?.[name] === "string"))
    throw new Refusal("binding", `the token is not bound as the policy demands: ${required}`);
}

/** Without a list none are signed. */
export function checkDetails(
  { claims }: DecodedToken,
  { authorizationDetails: allowed = [] }: ClientPolicy,
  { authorizationDetails: asked }: RequestContext,
): void {
  const details = claims["authorization_details"] ?? [];
  if (!Array.isArray(details)) throw new Refusal("authorization_details", "authorization_details is no list");
  if (asked !== undefined && !isSameJson(asked, details))
    throw new Refusal("authorization_details", "the details of the request differ from those in the token");
  for (const detail of details as ReadonlyArray<{ type?: unknown } | null>) {
    const type = detail?.type;
    if (typeof type !== "string" || !allowed.includes(type))
      throw new Refusal(
        "authorization_details",
        `authorization details of type ${quoted(typeof type === "string" ? type : "none")} are not allowed for this client`,
      );
  }
}

/** Each of the chain (RFC 8693 §4.1). Without a list nobody acts for others. */
export function checkActors(
  { claims }: DecodedToken,
  { actors: allowed = [] }: ClientPolicy,
  { actor }: RequestContext,
): void {
  const { act = null } = claims as { act?: unknown };
  if (actor !== undefined && !isSameJson(actor, act))
    throw new Refusal("actor", "the actor of the request differs from that of the token");
  for (let one: unknown = act; one !== null && one !== undefined; ) {
    const { sub, act: next } = one as { sub?: unknown; act?: unknown };
    if (typeof sub !== "string" || !allowed.includes(sub))
      throw new Refusal(
        "actor",
        `actor ${quoted(typeof sub === "string" ? sub : "none")} is not allowed for this client`,
      );
    one = next;
  }
}
