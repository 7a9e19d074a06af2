/** `signet secret …`: the secrets of a confidential application. Several may be active, so that one replaces another in peace. */
import type { Application } from "../../core/applications/application.ts";
import { findApplication } from "../../core/applications/applications.store.ts";
import {
  createClientSecret,
  isActive,
  isSecretLabel,
  revokeSecret,
} from "../../core/applications/client-secrets.ts";
import type { Service } from "../../modules/open-service.ts";
import { answer, fields } from "../answer.ts";
import { secretRecord } from "../app/app-record.ts";
import {
  appOption,
  type Call,
  type Command,
  jsonOption,
  optionalText,
  orgOption,
  requiredText,
  UsageError,
} from "../command.ts";
import { readExpiry } from "../times.ts";
import { applicationOf, OPERATOR, organisationOf, withService } from "../with-service.ts";

const secretCreate: Command = {
  name: "secret create",
  summary: "give an application another secret, shown once; the others stay active",
  usage: "--org ID --app ID [--label TEXT] [--expires TIME] [--json]",
  options: {
    ...orgOption,
    ...appOption,
    label: { type: "string", value: "TEXT", help: "to tell it from the others" },
    expires: {
      type: "string",
      value: "TIME",
      help: "days from now (90), a date (2027-01-31, its start in UTC) or a time (2027-01-31T12:00:00Z)",
    },
    ...jsonOption,
  },
  examples: ["signet secret create --org 01998d6e-… --app 01998d70-… --label autumn --expires 90"],
  run: (call) => withService(call, (service) => create(call, service)),
};

async function create(call: Call, service: Service): Promise<number> {
  const { values } = call;
  const label = optionalText(values, "label") ?? "";
  if (!isSecretLabel(label)) throw new UsageError("--label must be at most 100 plain characters");
  const expiresAt = readExpiry(optionalText(values, "expires"), service.clock);
  const organisation = await organisationOf(service, values);
  const application = await applicationOf(service, organisation, call);
  if (application.clientType !== "confidential")
    throw new Error(`"${application.name}" is a ${application.clientType} client: it cannot keep a secret`);
  const { orgId, id: applicationId } = application;
  const { secret, plaintext } = await createClientSecret(service, {
    orgId,
    applicationId,
    label,
    expiresAt,
    actor: OPERATOR,
  });
  const record = { clientId: applicationId, ...secretRecord(secret), clientSecret: plaintext };
  return answer(call, record, () => [
    ...fields({
      clientId: applicationId,
      secretId: secret.id,
      clientSecret: plaintext,
      expires: record.expiresAt ?? "never",
    }),
    "",
    "The secret is not shown again.",
  ]);
}

const secretRevoke: Command = {
  name: "secret revoke",
  summary: "end one secret at once; the application's other secrets are left alone",
  usage: "--org ID --app ID --id ID [--json]",
  options: {
    ...orgOption,
    ...appOption,
    id: { type: "string", value: "ID", help: "the secret, as app show lists it", required: true },
    ...jsonOption,
  },
  run: (call) => withService(call, (service) => revoke(call, service)),
};

async function revoke(call: Call, service: Service): Promise<number> {
  const organisation = await organisationOf(service, call.values);
  const application = await applicationOf(service, organisation, call);
  const { orgId, id: applicationId } = application;
  const id = requiredText(call.values, "id").toLowerCase();
  const known = application.secrets.find((secret) => secret.id === id);
  if (!known) throw new Error(`the application has no secret "${id}"`);
  const revoked = await revokeSecret(service, { orgId, applicationId, id, actor: OPERATOR });
  const after = await findApplication(service.database.query, orgId, applicationId);
  const secret = after?.secrets.find((one) => one.id === id) ?? known;
  return answer(call, { clientId: applicationId, ...secretRecord(secret) }, () => [
    revoked ? "The secret is revoked." : "The secret was revoked already.",
    ...noteLastSecret(after, service.clock()),
  ]);
}

function noteLastSecret(application: Application | undefined, now: number): string[] {
  const left = application?.secrets.filter((secret) => isActive(secret, now)).length ?? 0;
  return left > 0 ? [] : ["The application has no active secret left: signet secret create gives it one."];
}

export const secretCommands: readonly Command[] = [secretCreate, secretRevoke];
