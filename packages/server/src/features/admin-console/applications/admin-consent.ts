/**
 * Admin consent beside the consent mode: choosing it consents to the scopes that are ticked, in the same save. Without a
 * consent, users of an application with this mode could not sign in.
 */
import type { Application } from "../../../core/applications/application.ts";
import { consentModeOf } from "../../../core/applications/consent-mode.ts";
import { grantOrganisationConsent } from "../../../core/consents/consents.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import type { ConsoleDeps } from "../../../page-kit/page.ts";
import { listNamedConsents } from "../consents/consents.store.ts";
import { readLines, type SettingsInput } from "./settings-input.ts";

/** The scopes that administrators have consented to for all users. */
export async function consentedScopes(
  { database }: Pick<ConsoleDeps, "database">,
  { orgId, id: applicationId }: Pick<Application, "orgId" | "id">,
): Promise<readonly string[]> {
  const search = { applicationId, kind: "organisation", isRevoked: false, limit: 1 } as const;
  const [consent] = await listNamedConsents(database.query, orgId, search);
  return consent?.scopes ?? [];
}

type ConsentInput = SettingsInput & { readonly consentScopes?: string };

/** Whoever chooses admin consent consents to something: an empty consent would lock all users out. */
export async function consentFaults(
  deps: Pick<ConsoleDeps, "database">,
  record: Application,
  { consentMode, allowedScopes = "", consentScopes = "" }: ConsentInput,
  { console: { consents } }: Messages,
): Promise<Record<string, string> | undefined> {
  const isChosen = consentMode === "organisation" && consentModeOf(record.settings) !== "organisation";
  if (!isChosen || consentScopes !== "" || allowedScopes === "") return undefined;
  return (await consentedScopes(deps, record)).length > 0
    ? undefined
    : { consentScopes: consents.faults.scopes };
}

/** Consents to the ticked scopes that the application, as it is now saved, may request. Earlier ones stay. */
export async function grantConsentInput(
  inside: ConsoleDeps,
  act: { readonly actor: string; readonly address?: string },
  application: Application,
  { consentScopes = "" }: ConsentInput,
): Promise<void> {
  if (consentModeOf(application.settings) !== "organisation") return;
  const { allowedScopes } = application.settings;
  const before = await consentedScopes(inside, application);
  const scopes = readLines(consentScopes).filter(
    (scope) => allowedScopes.includes(scope) && !before.includes(scope),
  );
  if (scopes.length > 0) await grantOrganisationConsent(inside, { ...act, application, scopes });
}
