/** Software statements (RFC 7591 §2.3): what a trusted issuer says of a client wins over what the client says of itself. */
import { decodeJwsUnverified } from "@signet/protocol/jose/jws";
import { OAuthError } from "@signet/protocol/oauth/oauth-error";
import type { Db } from "../../db/open.ts";
import { issuerOf } from "../organisations/organisation.ts";
import { trustsOfIssuer } from "../trusts/trusts.store.ts";
import {
  consumeTrusted,
  type TrustedDeps,
  type TrustedToken,
  UntrustedToken,
  verifyTrusted,
} from "../trusts/verify-trusted.ts";
import type { ClientMetadata } from "./client-metadata.ts";

export interface StatementDeps extends TrustedDeps {
  readonly baseUrl: string;
}

export interface VerifiedStatement {
  /** As it was sent. */
  readonly text: string;
  readonly token: TrustedToken;
}

const TYPES = [undefined, "jwt"];

const invalidStatement = (message: string, cause: string): OAuthError =>
  new OAuthError("invalid_software_statement", message, { cause });

/**
 * Nothing is used up.
 * @returns undefined where the metadata has none
 * @throws OAuthError invalid_software_statement, unapproved_software_statement
 */
export async function readStatement(
  deps: StatementDeps,
  orgId: string,
  { software_statement: text }: ClientMetadata,
): Promise<VerifiedStatement | undefined> {
  if (text === undefined || text === null) return undefined;
  if (typeof text !== "string") throw invalidStatement("software_statement is not a string", "not a string");
  const issuer = decodeJwsUnverified(text)?.payload["iss"];
  if (typeof issuer !== "string")
    throw invalidStatement("software_statement is not a JWT with an iss", "not a JWT");
  const kind = "software_statement" as const;
  if ((await trustsOfIssuer(deps.database.query, { orgId, kind, issuer })).length === 0)
    throw new OAuthError(
      "unapproved_software_statement",
      "the issuer of the software statement is not trusted",
    );
  const audiences = [issuerOf(deps.baseUrl, orgId)];
  try {
    const expected = { orgId, kind, clientId: undefined, audiences, types: TYPES };
    return { text, token: await verifyTrusted(deps, text, expected) };
  } catch (error) {
    if (!(error instanceof UntrustedToken)) throw error;
    throw invalidStatement("the software statement is not valid", error.message);
  }
}

/** @param tx the transaction in which the client registers. @throws OAuthError invalid_software_statement */
export async function useStatement(tx: Db, statement: VerifiedStatement | undefined): Promise<void> {
  if (statement && !(await consumeTrusted(tx, statement.token)))
    throw invalidStatement("the software statement was used before", "replayed");
}

/** About the statement itself, not about the client. */
const ofJwt = new Set(["iss", "sub", "aud", "exp", "iat", "nbf", "jti", "software_statement"]);

/** @param text verified at registration or now */
export function withStatement(metadata: ClientMetadata, text: string | null | undefined): ClientMetadata {
  const claims = text ? decodeJwsUnverified(text)?.payload : undefined;
  if (!claims) return metadata;
  const said = Object.entries(claims).filter(([name]) => !ofJwt.has(name));
  return { ...metadata, ...Object.fromEntries(said) };
}
