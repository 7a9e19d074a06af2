/** `signet consent …` and `signet preauth …`: what applications are allowed, by users and by administrators. */
import type { Consent } from "../../core/consents/consent.ts";
import { findConsent, listConsents, listPreauthorizations } from "../../core/consents/consents.store.ts";
import {
  createPreauthorization,
  deletePreauthorization,
  grantOrganisationConsent,
  revokeConsent,
} from "../../core/consents/consents.ts";
import type { Service } from "../../modules/open-service.ts";
import { answer, answerList, fields, limitOption, time } from "../answer.ts";
import {
  appOption,
  type Call,
  type Command,
  jsonOption,
  type Options,
  optionalText,
  orgOption,
  UsageError,
  type Values,
} from "../command.ts";
import { applicationOf, OPERATOR, organisationOf, readAll, withService } from "../with-service.ts";

const scopeOption: Options = {
  scope: {
    type: "string",
    value: "SCOPE",
    multiple: true,
    required: false,
    help: "what is allowed; repeatable",
  },
};
const someApp: Options = {
  app: { type: "string", value: "ID", help: "only of this application, by its client_id" },
};

const consentRecord = (consent: Consent) => ({
  id: consent.id,
  kind: consent.kind,
  clientId: consent.applicationId,
  ...(consent.kind === "user" ? { userId: consent.userId } : {}),
  scopes: consent.scopes,
  grantedBy: consent.grantedBy,
  grantedAt: time(consent.grantedAt),
});

const preauthRecord = (record: Consent) => ({
  id: record.id,
  clientId: record.applicationId,
  scopes: record.scopes,
  createdBy: record.grantedBy,
  createdAt: time(record.grantedAt),
});

function scopesOf({ scope }: Values): string[] {
  const scopes = [scope ?? []].flat().flatMap((text) => String(text).split(" ").filter(Boolean));
  if (scopes.length === 0) throw new UsageError("--scope is missing");
  return scopes;
}

const grantOrganisation: Command = {
  name: "consent grant-organisation",
  summary: "allow an application scopes for all users: none of them is asked",
  usage: "--org ID --app ID --scope SCOPE … [--json]",
  options: { ...orgOption, ...appOption, ...scopeOption, ...jsonOption },
  examples: [
    "signet consent grant-organisation --org 01998d6e-… --app 01998d70-… --scope openid --scope email",
  ],
  run: (call) =>
    withService(call, async (service) => {
      const scopes = scopesOf(call.values);
      const organisation = await organisationOf(service, call.values);
      const application = await applicationOf(service, organisation, call);
      const id = await grantOrganisationConsent(service, { application, scopes, actor: OPERATOR });
      const granted = await findConsent(service.database.query, { orgId: organisation.id, id });
      if (!granted) throw new Error("the consent is gone");
      return answer(call, consentRecord(granted), () =>
        fields({ id, clientId: application.id, scopes: granted.scopes.join(" ") }),
      );
    }),
};

const consentList: Command = {
  name: "consent list",
  summary: "list the consents of users and for all users",
  usage: "--org ID [--app ID] [--limit COUNT] [--json]",
  options: { ...orgOption, ...someApp, ...limitOption, ...jsonOption },
  run: (call) =>
    withService(call, async (service) => {
      const { orgId, ...filter } = await filterOf(call, service);
      const list = await readAll(call.values, (page) =>
        listConsents(service.database.query, orgId, { ...filter, ...page }),
      );
      return answerList(call, list, {
        record: consentRecord,
        headings: ["ID", "KIND", "CLIENT ID", "USER", "SCOPES", "GRANTED"],
        row: (consent) => [
          consent.id,
          consent.kind,
          consent.applicationId,
          consent.userId ?? "everybody",
          consent.scopes.join(" "),
          time(consent.grantedAt),
        ],
        none: "Nobody has allowed an application anything yet.",
      });
    }),
};

const consentRevoke: Command = {
  name: "consent revoke",
  summary: "take a consent back: the tokens that rest on it end at once",
  usage: "ID --org ID [--json]",
  positionals: 1,
  options: { ...orgOption, ...jsonOption },
  run: (call) => end(call, "consent", "is revoked", revokeConsent),
};

const preauthCreate: Command = {
  name: "preauth create",
  summary: "allow an application scopes ahead of any request",
  usage: "--org ID --app ID --scope SCOPE … [--json]",
  options: { ...orgOption, ...appOption, ...scopeOption, ...jsonOption },
  examples: ["signet preauth create --org 01998d6e-… --app 01998d70-… --scope openid"],
  run: (call) =>
    withService(call, async (service) => {
      const scopes = scopesOf(call.values);
      const organisation = await organisationOf(service, call.values);
      const application = await applicationOf(service, organisation, call);
      const record = await createPreauthorization(service, { application, scopes, actor: OPERATOR });
      return answer(call, preauthRecord(record), () =>
        fields({ id: record.id, clientId: application.id, scopes: record.scopes.join(" ") }),
      );
    }),
};

const preauthList: Command = {
  name: "preauth list",
  summary: "list the pre-authorizations",
  usage: "--org ID [--app ID] [--limit COUNT] [--json]",
  options: { ...orgOption, ...someApp, ...limitOption, ...jsonOption },
  run: (call) =>
    withService(call, async (service) => {
      const { orgId, ...filter } = await filterOf(call, service);
      const list = await readAll(call.values, (page) =>
        listPreauthorizations(service.database.query, orgId, { ...filter, ...page }),
      );
      return answerList(call, list, {
        record: preauthRecord,
        headings: ["ID", "CLIENT ID", "SCOPES", "CREATED BY", "CREATED"],
        row: (record) => [
          record.id,
          record.applicationId,
          record.scopes.join(" "),
          record.grantedBy,
          time(record.grantedAt),
        ],
        none: "No application is pre-authorized: signet preauth create --org … --app … --scope …",
      });
    }),
};

const preauthDelete: Command = {
  name: "preauth delete",
  summary: "take a pre-authorization back: the tokens that rest on it end at once",
  usage: "ID --org ID [--json]",
  positionals: 1,
  options: { ...orgOption, ...jsonOption },
  run: (call) => end(call, "pre-authorization", "is deleted", deletePreauthorization),
};

async function filterOf(call: Call, service: Service): Promise<{ orgId: string; applicationId?: string }> {
  const organisation = await organisationOf(service, call.values);
  if (optionalText(call.values, "app") === undefined) return { orgId: organisation.id };
  const { id: applicationId } = await applicationOf(service, organisation, call);
  return { orgId: organisation.id, applicationId };
}

function end(
  call: Call,
  what: string,
  done: string,
  take: (service: Service, taking: { orgId: string; id: string; actor: string }) => Promise<boolean>,
): Promise<number> {
  return withService(call, async (service) => {
    const { id: orgId } = await organisationOf(service, call.values);
    const [id] = call.positionals;
    if (id === undefined) throw new UsageError(`ID is missing: the ${what}`);
    if (!(await take(service, { orgId, id: id.toLowerCase(), actor: OPERATOR })))
      throw new Error(`there is no ${what} "${id}" in this organisation`);
    return answer(call, { id: id.toLowerCase(), done: true }, () => [`The ${what} ${done}.`]);
  });
}

export const consentCommands: readonly Command[] = [
  grantOrganisation,
  consentList,
  consentRevoke,
  preauthCreate,
  preauthList,
  preauthDelete,
];
