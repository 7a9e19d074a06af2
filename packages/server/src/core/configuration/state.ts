/** Reads everything that a file can contain from the database. */
import type { Db } from "../../db/open.ts";
import type { Application } from "../applications/application.ts";
import { listApplications } from "../applications/applications.store.ts";
import { commandLineClientId } from "../applications/command-line-client.ts";
import type { Consent } from "../consents/consent.ts";
import { listConsents, listPreauthorizations } from "../consents/consents.store.ts";
import { listMailTexts, type StoredMailText } from "../mail/mail-texts.store.ts";
import type { Organisation } from "../organisations/organisation.ts";
import { findOrganisation } from "../organisations/organisations.store.ts";
import { pauses } from "../portions.ts";
import type { CustomScope } from "../scopes/custom-scope.ts";
import { listCustomScopes } from "../scopes/scopes.store.ts";
import { listAllPools } from "../signing-pools/signing-pool.store.ts";
import { listExternalKeys } from "./configuration.store.ts";
import { readSections, type SectionState } from "./sections/section-steps.ts";

export interface ApplicationState {
  readonly application: Application;
  readonly externalKey: string | undefined;
  readonly organisationConsent: Consent | undefined;
  readonly preauthorizations: readonly Consent[];
}

export interface OrganisationState {
  readonly organisation: Organisation;
  /** The texts that the organisation has written itself. */
  readonly emails: readonly StoredMailText[];
  readonly scopes: readonly CustomScope[];
  readonly applications: readonly ApplicationState[];
  /** Their ids: applications refer to them, but a file doesn't create them. */
  readonly signingPools: readonly string[];
  readonly sections: SectionState;
}

/** @param db preferably a transaction, for a consistent state. @returns undefined when there is no such organisation */
export async function readState(db: Db, orgId: string): Promise<OrganisationState | undefined> {
  const organisation = await findOrganisation(db, orgId);
  if (!organisation) return undefined;
  const applications = await readPages((page) => listApplications(db, orgId, page));
  const given = await readPages((page) => listConsents(db, orgId, { ...page, kind: "organisation" }));
  const ahead = await readPages((page) => listPreauthorizations(db, orgId, page));
  const consents = new Map(given.map((consent) => [consent.applicationId, consent]));
  const preauthorizations = Map.groupBy(ahead, ({ applicationId }) => applicationId);
  const keys = await listExternalKeys(db, orgId);
  const signingPools = (await listAllPools(db, orgId)).map(({ id }) => id);
  return {
    organisation,
    emails: await listMailTexts(db, orgId),
    scopes: await listCustomScopes(db, orgId),
    signingPools,
    sections: await readSections(db, orgId),
    // Not what other organisations share, nor the service's own and those with a metadata document, which are there or not as
    // somebody has signed in.
    applications: applications
      .filter(({ id, homeOrgId }) => homeOrgId === null && id !== commandLineClientId(orgId))
      .filter(({ source }) => source === "registered")
      .map((application) => ({
        application,
        externalKey: keys.get(application.id),
        organisationConsent: consents.get(application.id),
        preauthorizations: preauthorizations.get(application.id) ?? [],
      })),
  };
}

const PAGE = 200;

async function readPages<Item extends { readonly id: string }>(
  readPage: (page: { after: string | undefined; limit: number }) => Promise<readonly Item[]>,
): Promise<Item[]> {
  const items: Item[] = [];
  const pause = pauses();
  for (;;) {
    await pause();
    const after = items.at(-1)?.id;
    const page = await readPage({ limit: PAGE, after });
    items.push(...page);
    if (page.length < PAGE) return items;
  }
}
