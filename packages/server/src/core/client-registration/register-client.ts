/** A client registers itself (RFC 7591 §3): nothing is used up by a request that is refused. */
import { sha256Base64url } from "@signet/protocol/hash";
import { OAuthError } from "@signet/protocol/oauth/oauth-error";
import { boundTo } from "../../db/open.ts";
import { usesSecrets } from "../applications/application.ts";
import { createApplication } from "../applications/applications.ts";
import { createClientSecret } from "../applications/client-secrets.ts";
import { InvalidApplication } from "../applications/validation.ts";
import { lockOrganisation } from "../organisations/organisations.store.ts";
import type { RecordDeps } from "../record-changes.ts";
import { type ClientMetadata, metadataFault, readClientMetadata } from "./client-metadata.ts";
import { insertRegistration } from "./client-registrations.store.ts";
import { type InitialAccessToken, isOver } from "./initial-access-token.ts";
import { findTokenByHash, useInitialAccessToken } from "./initial-access-tokens.store.ts";
import type { RegisteredClient } from "./metadata-document.ts";
import { newRegistrationToken, registrationTokenHash } from "./registration-token.ts";
import { readStatement, type StatementDeps, useStatement, withStatement } from "./software-statement.ts";
import { hasRoom } from "./unused-clients.ts";

export interface RegistrationDeps extends RecordDeps, StatementDeps {}

/** The token is unknown here, disabled, expired or used up. */
export class UnknownRegistrationToken extends Error {
  override readonly name = "UnknownRegistrationToken";
}

/** @throws UnknownRegistrationToken */
export async function findUsableToken(
  { database, clock }: RegistrationDeps,
  orgId: string,
  token: string,
): Promise<InitialAccessToken> {
  const found = await findTokenByHash(database.query, { orgId, tokenHash: sha256Base64url(token) });
  if (!found) throw new UnknownRegistrationToken("no such initial access token");
  if (!found.enabled) throw new UnknownRegistrationToken("the initial access token is disabled");
  if (isOver(found, clock())) throw new UnknownRegistrationToken("the initial access token is over");
  return found;
}

export interface Registering {
  readonly token: InitialAccessToken;
  readonly metadata: ClientMetadata;
  readonly address: string;
}

/** @throws OAuthError with a code of RFC 7591 §3.2.2, UnknownRegistrationToken */
export async function registerClient(
  deps: RegistrationDeps,
  { token: { orgId, id }, metadata, address }: Registering,
): Promise<RegisteredClient> {
  const statement = await readStatement(deps, orgId, metadata);
  const said = withStatement(metadata, statement?.text);
  return deps.database.transaction(async (tx) => {
    const now = deps.clock();
    await lockOrganisation(tx, orgId);
    const token = await useInitialAccessToken(tx, { orgId, id, now });
    if (!token) throw new UnknownRegistrationToken("another request used the initial access token up");
    const client = readClientMetadata(said, token, deps);
    if (!(await hasRoom(tx, deps, orgId)))
      throw new OAuthError("access_denied", "the organisation has too many registered clients", {
        status: 403,
      });
    await useStatement(tx, statement);
    const inside = { ...deps, database: boundTo(deps.database, tx) };
    const act = { orgId, actor: `initial-access-token:${id}`, address };
    const application = await createApplication(inside, { ...client, ...act, source: "dynamic" }).catch(
      toFault,
    );
    const wanted = { ...act, applicationId: application.id, label: "", expiresAt: null };
    const secret = usesSecrets(application) ? await createClientSecret(inside, wanted) : undefined;
    const registrationToken = newRegistrationToken();
    const softwareStatement = statement?.text ?? null;
    await insertRegistration(tx, {
      ...{ orgId, applicationId: application.id, previousHash: null, softwareStatement, lastUsedAt: now },
      tokenHash: registrationTokenHash(registrationToken),
      allowedScopes: token.allowedScopes,
      allowedResources: token.allowedResources,
      grantTypes: token.grantTypes,
    });
    return { application, registrationToken, clientSecret: secret?.plaintext, softwareStatement };
  });
}

function toFault(error: unknown): never {
  throw error instanceof InvalidApplication ? metadataFault(error.faults) : error;
}
