/** Creates records that depend on others: secrets, assignments, sessions, keys, permissions and events. */
import { assignUser } from "../../core/application-access/application-access.ts";
import { createApplication } from "../../core/applications/applications.ts";
import { createClientSecret } from "../../core/applications/client-secrets.ts";
import { listAuditEvents } from "../../core/audit/audit.store.ts";
import { grantUserConsent } from "../../core/consents/consents.store.ts";
import type { Organisation } from "../../core/organisations/organisation.ts";
import { listFilters } from "../../core/saved-filters/saved-filters.store.ts";
import { saveFilter } from "../../core/saved-filters/saved-filters.ts";
import { acrValues } from "../../core/sessions/session.ts";
import { signIn } from "../../core/sessions/sessions.ts";
import { createSystemAccount, grantApplication } from "../../core/system-accounts/system-accounts.ts";
import { findUser } from "../../core/users/users.store.ts";
import type { Service } from "../../modules/open-service.ts";
import { recordsInStates } from "../fixtures/records-in-states.ts";

export interface DependentRecordsInput {
  readonly organisation: Organisation;
  readonly applicationId: string;
  readonly userId: string;
}

const actor = "operator";

/** @returns identifiers as `recordAddress` takes them */
export async function addDependentRecords(
  service: Service,
  { organisation, applicationId, userId }: DependentRecordsInput,
): Promise<Record<string, string>> {
  const orgId = organisation.id;
  const db = service.database.query;
  const label = "rotated in spring";
  const { secret } = await createClientSecret(service, {
    orgId,
    applicationId,
    label,
    expiresAt: null,
    actor,
  });
  await assignUser(service, { orgId, applicationId, userId, actor });
  const scopes = ["openid", "email"];
  const given = {
    orgId,
    applicationId,
    userId,
    scopes,
    fingerprints: {},
    definitions: {},
    now: service.clock(),
  };
  const consent = await grantUserConsent(db, given);
  const user = await findUser(db, orgId, userId);
  if (!user) throw new Error("no user");
  const { session } = await signIn(service, {
    organisation,
    user,
    amr: ["pwd"],
    acr: acrValues.password,
    address: "192.0.2.7",
    userAgent: "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
    before: undefined,
  });
  const named = { name: "Reports", clientType: "confidential", settings: {}, actor } as const;
  const { id: application } = await createApplication(service, { orgId, ...named });
  const { account, key } = await createSystemAccount(service, {
    orgId,
    applicationId,
    name: "Nightly import",
    isAdministrator: false,
    requiresStrictSignature: true,
    actor,
  });
  await grantApplication(service, { orgId, id: account.id, applicationId: application, actor });
  await saveFilter(service, {
    orgId,
    list: "audit-log",
    name: "Failed sign-ins",
    query: "event=sign-in.failed",
  });
  const [filter] = await listFilters(db, orgId);
  const [event] = await listAuditEvents(db, orgId, 1);
  return {
    ...(await recordsInStates(service, organisation)),
    "system-accounts": account.id,
    secret: secret.id,
    user: userId,
    consent,
    session: session.id,
    key: key.publicKey,
    application,
    event: event?.id ?? "",
    "saved-filters": filter?.id ?? "",
    alg: "ES256",
    template: "ResetPassword",
    name: "redirect-uris",
  };
}
