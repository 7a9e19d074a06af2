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
import type { Service } from "../../modules/open-service.ts";
import {
  appOption,
  type Call,
  type Command,
  jsonOption,
  limitOption,
  type Options,
  optionalText,
  orgOption,
  recordArguments,
  UsageError,
  type Values,
} from "../command.ts";
import { fields, formatTime, printList, printResult } from "../output.ts";
import { OPERATOR, readAll, requireApplication, requireOrganisation } from "../with-service.ts";

const scopeOption: Options = {
  scope: {
    type: "string",
    value: "SCOPE",
    multiple: true,
    required: false,
    help: "granted scope; repeatable",
  },
};
const appFilter: Options = {
  app: { type: "string", value: "ID", help: "client ID: entries of this application only" },
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

const preauthRecord = (record: Consent) => ({
  id: record.id,
  clientId: record.applicationId,
  scopes: record.scopes,
  createdBy: record.grantedBy,
  createdAt: formatTime(record.grantedAt),
});

function readScopes({ scope }: Values): string[] {
  const scopes = [scope ?? []].flat().flatMap((text) => String(text).split(" ").filter(Boolean));
  if (scopes.length === 0) throw new UsageError("--scope is required");
  return scopes;
}

const grantOrganisation: Command = {
  name: "consent grant-organisation",
  summary: "grant an application scopes for all users, who then skip the consent page",
  usage: "--org ID --app ID --scope SCOPE … [--json]",
  options: { ...orgOption, ...appOption, ...scopeOption, ...jsonOption },
  examples: [
    "signet consent grant-organisation --org 01998d6e-… --app 01998d70-… --scope openid --scope email",
  ],
  runWithService: async (service, call) => {
    const scopes = readScopes(call.values);
    const organisation = await requireOrganisation(service, call.values);
    const application = await requireApplication(service, organisation, call);
    const id = await grantOrganisationConsent(service, { application, scopes, actor: OPERATOR });
    const granted = await findConsentRecord(service.database.query, { orgId: organisation.id, id });
    if (granted?.revokedAt !== null) throw new Error("the consent no longer exists");
    return printResult(call, consentRecord(granted), () =>
      fields({ id, clientId: application.id, scopes: granted.scopes.join(" ") }),
    );
  },
};

const consentList: Command = {
  name: "consent list",
  summary: "list the consents granted by users and administrators",
  usage: "--org ID [--app ID] [--limit COUNT] [--json]",
  options: { ...orgOption, ...appFilter, ...limitOption, ...jsonOption },
  runWithService: async (service, call) => {
    const { orgId, ...filter } = await readListFilter(call, service);
    const list = await readAll(call.values, (page) =>
      listConsents(service.database.query, orgId, { ...filter, ...page }),
    );
    return printList(call, list, {
      record: consentRecord,
      headings: ["ID", "TYPE", "CLIENT ID", "USER", "SCOPES", "GRANTED"],
      row: (consent) => [
        consent.id,
        consent.kind,
        consent.applicationId,
        consent.userId ?? "all users",
        consent.scopes.join(" "),
        formatTime(consent.grantedAt),
      ],
      none: "No consents yet.",
    });
  },
};

const consentRevoke: Command = {
  name: "consent revoke",
  summary: "revoke a consent and its tokens immediately",
  ...recordArguments,
  runWithService: async (service, call) => {
    const { id: orgId } = await requireOrganisation(service, call.values);
    const id = requireId(call, "consent");
    if (!(await revokeConsent(service, { orgId, id, actor: OPERATOR })))
      throw new Error(`there is no consent "${id}" in this organisation`);
    return printResult(call, { id, done: true }, () => ["Consent revoked."]);
  },
};

const preauthCreate: Command = {
  name: "preauth create",
  summary: "pre-authorize an application for scopes, without user consent",
  usage: "--org ID --app ID --scope SCOPE … [--json]",
  options: { ...orgOption, ...appOption, ...scopeOption, ...jsonOption },
  examples: ["signet preauth create --org 01998d6e-… --app 01998d70-… --scope openid"],
  runWithService: async (service, call) => {
    const scopes = readScopes(call.values);
    const organisation = await requireOrganisation(service, call.values);
    const application = await requireApplication(service, organisation, call);
    const record = await createPreauthorization(service, { application, scopes, actor: OPERATOR });
    return printResult(call, preauthRecord(record), () =>
      fields({ id: record.id, clientId: application.id, scopes: record.scopes.join(" ") }),
    );
  },
};

const preauthList: Command = {
  name: "preauth list",
  summary: "list the pre-authorizations",
  usage: "--org ID [--app ID] [--limit COUNT] [--json]",
  options: { ...orgOption, ...appFilter, ...limitOption, ...jsonOption },
  runWithService: async (service, call) => {
    const { orgId, ...filter } = await readListFilter(call, service);
    const list = await readAll(call.values, (page) =>
      listPreauthorizations(service.database.query, orgId, { ...filter, ...page }),
    );
    return printList(call, list, {
      record: preauthRecord,
      headings: ["ID", "CLIENT ID", "SCOPES", "CREATED BY", "CREATED"],
      row: (record) => [
        record.id,
        record.applicationId,
        record.scopes.join(" "),
        record.grantedBy,
        formatTime(record.grantedAt),
      ],
      none: "No application is pre-authorized: signet preauth create --org … --app … --scope …",
    });
  },
};

const preauthDelete: Command = {
  name: "preauth delete",
  summary: "delete a pre-authorization and revoke its tokens immediately",
  ...recordArguments,
  runWithService: async (service, call) => {
    const { id: orgId } = await requireOrganisation(service, call.values);
    const id = requireId(call, "pre-authorization");
    if (!(await deletePreauthorization(service, { orgId, id, actor: OPERATOR })))
      throw new Error(`there is no pre-authorization "${id}" in this organisation`);
    return printResult(call, { id, done: true }, () => ["Pre-authorization deleted."]);
  },
};

async function readListFilter(
  call: Call,
  service: Service,
): Promise<{ orgId: string; applicationId?: string }> {
  const organisation = await requireOrganisation(service, call.values);
  if (optionalText(call.values, "app") === undefined) return { orgId: organisation.id };
  const { id: applicationId } = await requireApplication(service, organisation, call);
  return { orgId: organisation.id, applicationId };
}

function requireId({ positionals: [id] }: Call, noun: string): string {
  if (id === undefined) throw new UsageError(`the ID of the ${noun} is required`);
  return id.toLowerCase();
}

export const consentCommands: readonly Command[] = [
  grantOrganisation,
  consentList,
  consentRevoke,
  preauthCreate,
  preauthList,
  preauthDelete,
];
