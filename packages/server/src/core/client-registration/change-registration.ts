/** A client reads, replaces and deletes its own registration (RFC 7592). */
import { boundTo, type Db } from "../../db/open.ts";
import { type Application, usesSecrets } from "../applications/application.ts";
import { changeApplication, deleteApplication } from "../applications/application-changes.ts";
import { findApplication } from "../applications/applications.store.ts";
import {
  createClientSecret,
  isActive,
  matchClientSecret,
  revokeSecret,
} from "../applications/client-secrets.ts";
import { InvalidApplication } from "../applications/validation.ts";
import {
  type ClientMetadata,
  invalidMetadata,
  metadataFault,
  readClientMetadata,
} from "./client-metadata.ts";
import {
  type ClientRegistration,
  lockRegistration,
  replaceRegistration,
} from "./client-registrations.store.ts";
import type { RegisteredClient } from "./metadata-document.ts";
import { type RegistrationDeps, UnknownRegistrationToken } from "./register-client.ts";
import {
  knownSuccessor,
  presentedAs,
  type RegistrationTokenKeys,
  registrationTokenHash,
  successorOf,
} from "./registration-token.ts";
import { readStatement, useStatement, type VerifiedStatement, withStatement } from "./software-statement.ts";

export interface OwnRegistrationDeps extends RegistrationDeps, RegistrationTokenKeys {}

export interface OwnRegistration {
  readonly orgId: string;
  readonly clientId: string;
  /** `sgn_ra_…` */
  readonly token: string;
  readonly address: string;
}

interface Locked {
  readonly registration: ClientRegistration;
  readonly application: Application;
  readonly as: "current" | "previous";
}

/** Another's, an unknown or a disabled client's is one and the same. @throws UnknownRegistrationToken */
async function lockOwn(tx: Db, { orgId, clientId, token }: OwnRegistration): Promise<Locked> {
  const registration = await lockRegistration(tx, { orgId, applicationId: clientId });
  const as = registration && presentedAs(registration, token);
  if (!registration || !as) throw new UnknownRegistrationToken("no such registration access token");
  const application = await findApplication(tx, orgId, clientId);
  if (application?.disabledAt !== null) throw new UnknownRegistrationToken("the client is disabled");
  return { registration, application, as };
}

/** @throws UnknownRegistrationToken */
export function readRegistration(deps: OwnRegistrationDeps, own: OwnRegistration): Promise<RegisteredClient> {
  return deps.database.transaction(async (tx) => {
    const { registration, application, as } = await lockOwn(tx, own);
    const { softwareStatement } = registration;
    if (as === "current") {
      // The client has it: the one before is over.
      if (registration.previousHash !== null)
        await replaceRegistration(tx, { ...registration, previousHash: null });
      return { application, registrationToken: own.token, softwareStatement };
    }
    const registrationToken = knownSuccessor(deps, registration, own.token) ?? own.token;
    return { application, registrationToken, softwareStatement };
  });
}

/**
 * Replaces all of it; what is left out is the default. The statement that it was registered by stays, unless there is another.
 * @param read the metadata, which nobody looks at for a wrong token
 * @throws UnknownRegistrationToken, OAuthError with a code of RFC 7591 §3.2.2
 */
export async function replaceOwnRegistration(
  deps: OwnRegistrationDeps,
  own: OwnRegistration,
  read: () => ClientMetadata,
): Promise<RegisteredClient> {
  const { registration: kept } = await deps.database.transaction((tx) => lockOwn(tx, own));
  const metadata = read();
  requireOwnMembers(metadata, own.clientId);
  const isKept = kept.softwareStatement !== null && metadata["software_statement"] === kept.softwareStatement;
  const statement = isKept ? undefined : await readStatement(deps, own.orgId, metadata);
  return deps.database.transaction((tx) => replaceLocked(deps, tx, own, { metadata, statement }));
}

/** RFC 7592 §2.2. */
function requireOwnMembers(metadata: ClientMetadata, clientId: string): void {
  if (metadata["client_id"] !== clientId) throw invalidMetadata("client_id must be the client's own");
  const forbidden = [
    ...["registration_access_token", "registration_client_uri"],
    ...["client_secret_expires_at", "client_id_issued_at"],
  ].find((name) => metadata[name] !== undefined);
  if (forbidden !== undefined) throw invalidMetadata(`${forbidden} must not be sent (RFC 7592 §2.2)`);
}

async function replaceLocked(
  deps: OwnRegistrationDeps,
  tx: Db,
  own: OwnRegistration,
  { metadata, statement }: { metadata: ClientMetadata; statement: VerifiedStatement | undefined },
): Promise<RegisteredClient> {
  const { registration, application, as } = await lockOwn(tx, own);
  const { orgId, clientId, address } = own;
  requireOwnSecret(application, metadata["client_secret"], deps.clock());
  const softwareStatement = statement?.text ?? registration.softwareStatement;
  const said = withStatement(metadata, softwareStatement);
  const client = readClientMetadata(said, registration, {
    ...{ before: application.settings, isDemo: deps.isDemo },
  });
  if ((client.clientType === "confidential") !== (application.clientType === "confidential"))
    throw invalidMetadata("token_endpoint_auth_method cannot change between none and others: register anew");
  await useStatement(tx, statement);
  const inside = { ...deps, database: boundTo(deps.database, tx) };
  const act = { orgId, actor: `client:${clientId}`, address };
  const content = { name: client.name, settings: client.settings, disabled: false };
  const changed = await changeApplication(inside, { ...act, id: clientId }, () => content).catch(toFault);
  if (!changed) throw new UnknownRegistrationToken("the client is gone");
  const clientSecret = await followMethod(inside, changed, { ...act, applicationId: clientId });
  const registrationToken =
    (as === "previous" ? knownSuccessor(deps, registration, own.token) : undefined) ??
    successorOf(deps, registration, own.token);
  await replaceRegistration(tx, {
    ...{ orgId, applicationId: clientId, softwareStatement },
    tokenHash: registrationTokenHash(registrationToken),
    previousHash: registrationTokenHash(own.token),
  });
  return { application: changed, registrationToken, clientSecret, softwareStatement };
}

/** RFC 7592 §2.2: a client cannot choose its secret. */
function requireOwnSecret(application: Application, sent: unknown, now: number): void {
  if (sent === undefined || sent === null) return;
  if (typeof sent !== "string" || !matchClientSecret(application, sent, now))
    throw invalidMetadata("client_secret is not the client's secret");
}

/** @returns a first secret for a method that needs one; those that no method uses any more are revoked */
async function followMethod(
  deps: OwnRegistrationDeps,
  application: Application,
  act: { orgId: string; applicationId: string; actor: string; address: string },
): Promise<string | undefined> {
  const active = application.secrets.filter((secret) => isActive(secret, deps.clock()));
  if (!usesSecrets(application)) {
    for (const { id } of active) await revokeSecret(deps, { ...act, id });
    return undefined;
  }
  if (active.length > 0) return undefined;
  return (await createClientSecret(deps, { ...act, label: "", expiresAt: null })).plaintext;
}

/** With all that it was issued. @throws UnknownRegistrationToken */
export function deleteRegistration(deps: OwnRegistrationDeps, own: OwnRegistration): Promise<void> {
  return deps.database.transaction(async (tx) => {
    await lockOwn(tx, own);
    const inside = { ...deps, database: boundTo(deps.database, tx) };
    const { orgId, clientId: id, address } = own;
    await deleteApplication(inside, { orgId, id, actor: `client:${id}`, address });
  });
}

function toFault(error: unknown): never {
  throw error instanceof InvalidApplication ? metadataFault(error.faults) : error;
}
