/** `signet consent …` and `signet preauth …`: consents of users and administrators, and pre-authorizations. */
import type { Consent } from "../../core/consents/consent.ts";
import {
  findConsentRecord,
  listConsents,
  listPreauthorizations,
} from "../../core/consents/consents.store.ts";
import {
  createPreauthorization,
  deletePreauthorization,
  grantOrganisationConsent,
  revokeConsent,
} from "../../core/consents/consents.ts";
import { preauthorizationRecord } from "../../features/management-api/consent-record.ts";
import {
  appOption,
  type Command,
  limitOption,
  type OrganisationCall,
  optionalText,
  repeatedText,
  UsageError,
} from "../command.ts";
import { fields, formatTime, printList, printResult } from "../output.ts";
import { OPERATOR, readAll, requireApplication, requireArgument } from "../with-service.ts";

const grantArguments = {
  usage: "--org ID --app ID --scope SCOPE … [--json]",
  options: {
    ...appOption,
    scope: { value: "SCOPE", multiple: true, help: "granted scope; repeatable" },
  },
};
const filterArguments = {
  usage: "--org ID [--app ID] [--limit COUNT] [--json]",
  options: {
    app: { value: "ID", help: "client ID: entries of this application only" },
    ...limitOption,
  },
};

const consentRecord = (consent: Consent) => ({
  id: consent.id,
  kind: consent.kind,
  clientId: consent.applicationId,
  ...(consent.kind === "user" ? { userId: consent.userId } : {}),
  scopes: consent.scopes,
  grantedBy: consent.grantedBy,
  grantedAt: formatTime(consent.grantedAt),
});

const scopesText = ({ scopes }: Consent): string => scopes.join(" ");

export const consentCommands: readonly Command[] = [
  {
    name: "consent grant-organisation",
    summary: "grant an application scopes for all users, who then skip the consent page",
    ...grantArguments,
    examples: [
      "signet consent grant-organisation --org 01998d6e-… --app 01998d70-… --scope openid --scope email",
    ],
    runInOrganisation: async (call) => {
      const grant = await readGrant(call);
      const { service, organisation } = call;
      const id = await grantOrganisationConsent(service, grant);
      const granted = await findConsentRecord(service.database.query, { orgId: organisation.id, id });
      if (granted?.revokedAt !== null) throw new Error("the consent no longer exists");
      return printResult(call, consentRecord(granted), () => grantFields(granted));
    },
  },
  {
    name: "consent list",
    summary: "list the consents granted by users and administrators",
    ...filterArguments,
    runInOrganisation: async (call) => {
      const { query } = call.service.database;
      const filter = await readFilter(call);
      const consents = readAll(call.values, (page) =>
        listConsents(query, call.organisation.id, { ...filter, ...page }),
      );
      return printList(call, consents, {
        record: consentRecord,
        columns: {
          ID: "id",
          TYPE: "kind",
          "CLIENT ID": "clientId",
          USER: ({ userId }) => userId ?? "all users",
          SCOPES: scopesText,
          GRANTED: "grantedAt",
        },
        none: "No consents yet.",
      });
    },
  },
  {
    name: "consent revoke",
    summary: "revoke a consent and its tokens immediately",
    positionals: 1,
    runInOrganisation: async (call) => {
      const id = requireArgument(call, "the ID of the consent").toLowerCase();
      if (!(await revokeConsent(call.service, { ...call.by, id })))
        throw new Error(`there is no consent "${id}" in this organisation`);
      return printResult(call, { id, done: true }, () => ["Consent revoked."]);
    },
  },
  {
    name: "preauth create",
    summary: "pre-authorize an application for scopes, without user consent",
    ...grantArguments,
    examples: ["signet preauth create --org 01998d6e-… --app 01998d70-… --scope openid"],
    runInOrganisation: async (call) => {
      const record = await createPreauthorization(call.service, await readGrant(call));
      return printResult(call, preauthorizationRecord(record), () => grantFields(record));
    },
  },
  {
    name: "preauth list",
    summary: "list the pre-authorizations",
    ...filterArguments,
    runInOrganisation: async (call) => {
      const { query } = call.service.database;
      const filter = await readFilter(call);
      const preauthorizations = readAll(call.values, (page) =>
        listPreauthorizations(query, call.organisation.id, { ...filter, ...page }),
      );
      return printList(call, preauthorizations, {
        record: preauthorizationRecord,
        columns: {
          ID: "id",
          "CLIENT ID": "clientId",
          SCOPES: scopesText,
          "CREATED BY": "createdBy",
          CREATED: "createdAt",
        },
        none: "No application is pre-authorized: signet preauth create --org … --app … --scope …",
      });
    },
  },
  {
    name: "preauth delete",
    summary: "delete a pre-authorization and revoke its tokens immediately",
    positionals: 1,
    runInOrganisation: async (call) => {
      const id = requireArgument(call, "the ID of the pre-authorization").toLowerCase();
      if (!(await deletePreauthorization(call.service, { ...call.by, id })))
        throw new Error(`there is no pre-authorization "${id}" in this organisation`);
      return printResult(call, { id, done: true }, () => ["Pre-authorization deleted."]);
    },
  },
];

async function readGrant(call: OrganisationCall) {
  const scopes = repeatedText(call.values, "scope").flatMap((text) => text.split(" ").filter(Boolean));
  if (scopes.length === 0) throw new UsageError("--scope is required");
  return { application: await requireApplication(call), scopes, actor: OPERATOR };
}

async function readFilter(call: OrganisationCall): Promise<{ applicationId?: string }> {
  if (optionalText(call.values, "app") === undefined) return {};
  return { applicationId: (await requireApplication(call)).id };
}

const grantFields = (consent: Consent): string[] =>
  fields({ id: consent.id, clientId: consent.applicationId, scopes: scopesText(consent) });
