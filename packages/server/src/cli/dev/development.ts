/** What `@signet/testing` is given of a development server: its addresses, and people who are signed in without a browser. */
import { randomBytes } from "node:crypto";
import { decodeJwsUnverified, signJws } from "@signet/protocol/jose/jws";
import type { Organisation } from "../../core/organisations/organisation.ts";
import { findOrganisation } from "../../core/organisations/organisations.store.ts";
import { signOutEverywhere } from "../../core/sessions/end-sessions.ts";
import { acrValues } from "../../core/sessions/session.ts";
import { findCurrentSession, signIn } from "../../core/sessions/sessions.ts";
import { familyIdFromTokenId, newTokenId } from "../../core/tokens/token-family.ts";
import { findUser } from "../../core/users/users.store.ts";
import type { Service } from "../../modules/open-service.ts";
import type { AppliedOrganisation } from "./apply-document.ts";
import { startMemoryServer } from "./development-server.ts";

export interface TestServer {
  readonly baseUrl: string;
  organisations(): readonly AppliedOrganisation[];
  /** A new session of the user, as a cookie of this server. */
  startSession(who: Person): Promise<{ readonly name: string; readonly value: string }>;
  isSignedIn(orgId: string, cookie: string): Promise<boolean>;
  /** As the user does by the account page: every session and what rests on it. */
  signOutEverywhere(who: Person): Promise<void>;
  /** A token with other claims, signed by the organisation's own key; undefined removes a claim. */
  resign(orgId: string, token: string, claims: Readonly<Record<string, unknown>>): Promise<string>;
  apply(document: unknown): Promise<void>;
  close(): Promise<void>;
}

interface Person {
  readonly orgId: string;
  readonly userId: string;
}

/** @param document as `signet.dev.yaml` has it. @throws what is wrong with it, in one sentence */
export async function openTestServer(
  document: unknown,
  options: { readonly port?: number; readonly clock?: () => number } = {},
): Promise<TestServer> {
  const server = await startMemoryServer(document, options);
  const { service } = server;
  return {
    baseUrl: server.baseUrl,
    organisations: () => server.applied.organisations,
    startSession: (who) => startSession(service, who),
    isSignedIn: async (orgId, cookie) => {
      const organisation = await organisationOf(service, orgId);
      return (await findCurrentSession(service, organisation, cookie, { isBackground: true })) !== undefined;
    },
    signOutEverywhere: async ({ orgId, userId }) => {
      await signOutEverywhere(service, { orgId, userId, actor: `user:${userId}`, address: LOOPBACK });
    },
    resign: (orgId, token, claims) => resign(service, orgId, { token, claims }),
    apply: async (changed) => void (await server.apply(changed)),
    close: server.close,
  };
}

const LOOPBACK = "127.0.0.1";

async function organisationOf({ database }: Service, orgId: string): Promise<Organisation> {
  const organisation = await findOrganisation(database.query, orgId);
  if (!organisation) throw new Error(`there is no organisation ${orgId}`);
  return organisation;
}

async function startSession(service: Service, { orgId, userId }: Person) {
  const organisation = await organisationOf(service, orgId);
  const user = await findUser(service.database.query, orgId, userId);
  if (!user) throw new Error(`there is no user ${userId}`);
  const { token } = await signIn(service, {
    ...{ organisation, user, amr: ["pwd"], acr: acrValues.password, before: undefined },
    ...{ address: LOOPBACK, userAgent: "@signet/testing" },
  });
  return { name: `signet-${orgId}`, value: token };
}

interface Resigning {
  readonly token: string;
  readonly claims: Readonly<Record<string, unknown>>;
}

async function resign({ keys }: Service, orgId: string, { token, claims }: Resigning): Promise<string> {
  const decoded = decodeJwsUnverified(token);
  if (!decoded) throw new Error("not a signed JWT");
  const { kid, alg, privateKey } = await keys.signer(orgId, "ES256");
  const payload = { ...decoded.payload, jti: anotherId(decoded.payload["jti"]), ...claims };
  return signJws({ alg, kid, privateKey, typ: String(decoded.header["typ"] ?? "JWT"), payload });
}

/** Of the same family, so that the service knows the token; a client's own has none. */
function anotherId(jti: unknown): string {
  const familyId = familyIdFromTokenId(String(jti));
  return familyId === undefined ? randomBytes(16).toString("base64url") : newTokenId(familyId);
}
