/**
 * Token exchange (RFC 8693): a client trades an access token that it may introspect for one for another target, as a policy allows.
 * The new token is of the same subject and says that the client acts for it; it lives no longer than the token it came from, and
 * ends with it. For an ID token it may get an identity assertion for another server (`id-jag.ts`).
 */
import { sha256Base64url } from "@signet/protocol/hash";
import { OAuthError } from "@signet/protocol/oauth/oauth-error";
import { parseScope } from "@signet/protocol/oauth/scope";
import { newUuid } from "@signet/protocol/uuid";
import { tokenExchangeGrantType } from "../../../../core/applications/application.ts";
import type { ApplicationDirectory } from "../../../../core/applications/applications.ts";
import { recordAuditEvent } from "../../../../core/audit/audit.store.ts";
import { recordOnce } from "../../../../core/audit/unauthenticated-events.ts";
import { readAccessRules } from "../../../../core/protected-resources/asked-access.ts";
import { noRequestedClaims } from "../../../../core/scopes/requested-claims.ts";
import { definitionsOf } from "../../../../core/scopes/scope-definitions.ts";
import { entitlementScopes, grantableScopes } from "../../../../core/scopes/scopes.ts";
import { applicationIssuer, type SigningPoolDirectory } from "../../../../core/signing-pools/directory.ts";
import type { ExchangePolicy } from "../../../../core/token-exchange/exchange-policy.ts";
import type { AccessTokens } from "../../../../core/tokens/access-tokens.ts";
import type { AccessTokenClaims, TokenUser } from "../../../../core/tokens/claims.ts";
import { type HeldTokens, releaseTokens, type SignedTokens } from "../../../../core/tokens/signer.ts";
import { type Actor, type Ancestors, familyIdFromTokenId } from "../../../../core/tokens/token-family.ts";
import { findTokenFamily, insertTokenFamily } from "../../../../core/tokens/tokens.store.ts";
import { findUser } from "../../../../core/users/users.store.ts";
import { isOwnerOrAudience } from "../../introspect.route.ts";
import type { ConsumedGrant, Grant, GrantBasis, GrantDeps, GrantRequest } from "../grant.ts";
import {
  ACCESS_TOKEN,
  exchangeDetails,
  invalidExchange as invalid,
  readExchange,
  requestedType,
} from "./exchange-request.ts";
import { type IdJagDeps, issueIdJag } from "./id-jag.ts";
import { familyOf } from "./identity-assertion.ts";

export interface TokenExchangeDeps extends GrantDeps, IdJagDeps {
  readonly signingPools: SigningPoolDirectory;
  readonly accessTokens: AccessTokens;
  readonly applications: ApplicationDirectory;
}

const MAX_DEPTH = 4;

interface ExchangeBasis extends GrantBasis {
  readonly policy: ExchangePolicy;
  readonly subject: AccessTokenClaims;
  readonly ancestors: Ancestors | null;
}

export const tokenExchangeGrant = (deps: TokenExchangeDeps): Grant<ExchangeBasis> => ({
  grantType: tokenExchangeGrantType,
  answer: async (request) =>
    requestedType(request.form) === "id_jag"
      ? watched(deps, request, async () =>
          issueIdJag(deps, request, await readExchange(deps, request, "id_jag")),
        )
      : undefined,
  validate: (request) => watched(deps, request, () => validateExchange(deps, request)),
  consume: (request, basis, signed) => release(deps, request, basis, signed),
});

/** Audits a refusal, at most once a minute for each client. */
async function watched<T>(
  deps: TokenExchangeDeps,
  request: GrantRequest,
  work: () => Promise<T>,
): Promise<T> {
  const { application, address } = request;
  const { orgId, id } = application;
  try {
    return await work();
  } catch (error) {
    if (error instanceof OAuthError)
      await recordOnce(deps, { orgId, subject: `token-exchange|${id}` }, () => ({
        ...{ actor: `client:${id}`, action: "token-exchange.refused" as const, target: id, address },
        details: { error: error.code, reason: String(error.cause ?? error.message) },
      }));
    throw error;
  }
}

async function validateExchange(deps: TokenExchangeDeps, request: GrantRequest): Promise<ExchangeBasis> {
  const { organisation, application, now } = request;
  const { subjectToken, target, policies } = await readExchange(deps, request, "access_token");
  const unacceptable = (cause: string) => invalid("the subject_token cannot be exchanged", cause);
  const subject = await deps.accessTokens.read(organisation, subjectToken);
  if (!subject) throw unacceptable("not a valid access token of this organisation");
  if (!(await isOwnerOrAudience(deps, application, subject)))
    throw unacceptable("neither issued to the client nor for it");
  const rules = await readAccessRules(deps, organisation.id);
  if (rules.resources.some(({ identifier, enabled }) => identifier === target && !enabled))
    throw new OAuthError("invalid_target", "the resource is disabled", { reason: "resource-not-allowed" });
  if (!(await deps.accessTokens.activeScopes(organisation, subject))) throw unacceptable("revoked");
  const policy = policies.find(
    ({ subjectClientIds: ids }) => ids.length === 0 || ids.includes(subject.client_id),
  );
  if (!policy) throw unacceptable("no policy is for tokens of its client");
  if (depthOf(subject.act) >= MAX_DEPTH) throw unacceptable(`more than ${MAX_DEPTH} actors`);
  const { user, ancestors, exchangedFrom } = await subjectOf(deps, request, subject);
  const scopes = exchangedScopes(request, policy, user !== undefined);
  const definitions = definitionsOf(rules.customScopes, scopes);
  const iss = await applicationIssuer(deps, application);
  const act = { iss, sub: application.id, ...(subject.act ? { act: subject.act } : {}) };
  const told = policy.impersonation ? null : act;
  return {
    ...{
      policy,
      subject,
      ancestors: ancestors && { ...ancestors, act: told },
      scopes,
      definitions,
      resources: [target],
    },
    issuedTokenType: ACCESS_TOKEN,
    proofHash: sha256Base64url(JSON.stringify([subjectToken, target, scopes])),
    derived: {
      ...{ sub: subject.sub, expiresAt: subject.exp, maxLifetimeSeconds: policy.maxLifetimeSeconds },
      ...(told ? { act: told } : {}),
      ...(exchangedFrom ? { exchangedFrom } : {}),
      hasNoIdToken: true,
    },
    ...(user ? { user: { ...user, granted: { definitions, createdAt: now } } } : {}),
  };
}

const depthOf = (act: Actor | undefined): number => (act ? 1 + depthOf(act.act) : 0);

interface ExchangeSubject {
  readonly user?: Omit<TokenUser, "granted">;
  readonly ancestors: Omit<Ancestors, "act"> | null;
  /** Of a client's own token: what it ends with. */
  readonly exchangedFrom?: readonly string[];
}

/** Without an actor for each, a chain is as long as one with them at most. @throws OAuthError invalid_request */
function within(chain: readonly string[]): readonly string[] {
  if (chain.length <= MAX_DEPTH) return chain;
  throw invalid("the subject_token cannot be exchanged", `exchanged more than ${MAX_DEPTH} times`);
}

/** Whose the token is: a user by its family, or a client. @throws OAuthError invalid_request */
async function subjectOf(
  { database: { query } }: TokenExchangeDeps,
  { organisation: { id: orgId }, application }: GrantRequest,
  { jti, sub, client_id, device_id, exchanged_from = [] }: AccessTokenClaims,
): Promise<ExchangeSubject> {
  const familyId = familyIdFromTokenId(jti);
  if (familyId === undefined) {
    // Agents' tokens of no family are those of their own client alone.
    if (application.settings.signingPoolId !== undefined)
      throw invalid(
        "the subject_token cannot be exchanged",
        "a client's own token, and agents sign for the actor",
      );
    return { ancestors: null, exchangedFrom: within([...exchanged_from, jti]) };
  }
  const family = await findTokenFamily(query, orgId, familyId);
  const user = await findUser(query, orgId, sub);
  if (!family || !user || user.disabledAt !== null)
    throw invalid("the subject_token cannot be exchanged", "its user is deleted or disabled");
  const { authentication, ancestors: before } = family;
  const none = { nonce: null, sessionId: null, consentId: null, requestedClaims: noRequestedClaims };
  return {
    user: { user, authentication, familyId: newUuid(), ...none },
    ancestors: {
      families: within([...(before?.families ?? []), familyId]),
      tokens: [...(before?.tokens ?? []), jti],
      clients: [...(before?.clients ?? []), client_id],
      devices: [...(before?.devices ?? []), ...(device_id === undefined ? [] : [device_id])],
    },
  };
}

/** What the policy has of what is asked for; all of it when nothing is. @throws OAuthError invalid_scope */
function exchangedScopes({ form }: GrantRequest, policy: ExchangePolicy, isUser: boolean): string[] {
  const text = form.values.get("scope");
  const requested = text === undefined ? policy.scopes : parseScope(text);
  const scopes = grantableScopes(requested ?? [], policy.scopes).filter(
    // The roles of a client are told to that client alone.
    (scope) => isUser || !entitlementScopes.some((one) => one === scope),
  );
  if (scopes.length > 0) return scopes;
  throw new OAuthError("invalid_scope", "none of the requested scopes is in the policy", {
    reason: "scope-not-allowed",
  });
}

async function release(
  deps: TokenExchangeDeps,
  request: GrantRequest,
  { policy, subject, ancestors, user, scopes, definitions = {}, resources, derived }: ExchangeBasis,
  signed: SignedTokens | HeldTokens,
): Promise<ConsumedGrant> {
  const { application, address } = request;
  return deps.database.transaction(async (tx) => {
    const now = deps.clock();
    if (user)
      await insertTokenFamily(tx, {
        ...{
          ...familyOf(application, user.user.id, request),
          id: user.familyId,
          scopes,
          definitions,
          resources,
        },
        ...{ authentication: user.authentication, requestedClaims: user.requestedClaims, ancestors },
        ...{ createdAt: now, expiresAt: (derived?.expiresAt ?? 0) * 1_000 },
      });
    await recordAuditEvent(tx, {
      ...{ orgId: application.orgId, at: now, actor: `client:${application.id}`, address },
      ...{ action: "token.exchanged", target: subject.sub, applicationId: application.id },
      details: exchangeDetails(policy, scopes, subject.client_id),
    });
    return { tokens: await releaseTokens(signed, tx) };
  });
}
