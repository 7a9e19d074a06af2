/** `signet secret …`: client secrets. Several can be active at once, for rotation without downtime. */
import type { Application } from "../../core/applications/application.ts";
import { findApplication } from "../../core/applications/applications.store.ts";
import {
  createClientSecret,
  isActive,
  isSecretLabel,
  revokeSecret,
} from "../../core/applications/client-secrets.ts";
import type { Service } from "../../modules/open-service.ts";
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
import { fields, printResult } from "../output.ts";
import { readExpiry } from "../times.ts";
import { OPERATOR, requireApplication, requireOrganisation } from "../with-service.ts";

const secretCreate: Command = {
  name: "secret create",
  summary: "create a client secret, shown once; existing secrets stay active",
  usage: "--org ID --app ID [--label TEXT] [--expires TIME] [--json]",
  options: {
    ...orgOption,
    ...appOption,
    label: { type: "string", value: "TEXT", help: "label to tell it from others" },
    expires: {
      type: "string",
      value: "TIME",
      help: "days from now (90), a date (2027-01-31, midnight UTC) or a time (2027-01-31T12:00:00Z)",
    },
    ...jsonOption,
  },
  examples: ["signet secret create --org 01998d6e-… --app 01998d70-… --label autumn --expires 90"],
  runWithService: create,
};

async function create(service: Service, call: Call): Promise<number> {
  const { values } = call;
  const label = optionalText(values, "label") ?? "";
  if (!isSecretLabel(label)) throw new UsageError("--label must be at most 100 plain characters");
  const expiresAt = readExpiry(optionalText(values, "expires"), service.clock);
  const organisation = await requireOrganisation(service, values);
  const application = await requireApplication(service, organisation, call);
  if (application.clientType !== "confidential")
    throw new Error(
      `"${application.name}" is a ${application.clientType} client, which can't have a client secret`,
    );
  const { orgId, id: applicationId } = application;
  const { secret, plaintext } = await createClientSecret(service, {
    orgId,
    applicationId,
    label,
    expiresAt,
    actor: OPERATOR,
  });
  const record = { clientId: applicationId, ...secretRecord(secret), clientSecret: plaintext };
  return printResult(call, record, () => [
    ...fields({
      clientId: applicationId,
      secretId: secret.id,
      clientSecret: plaintext,
      expires: record.expiresAt ?? "never",
    }),
    "",
    "Copy the secret now: Signet can't show it again.",
  ]);
}

const secretRevoke: Command = {
  name: "secret revoke",
  summary: "revoke a client secret immediately; the application's other secrets stay active",
  usage: "--org ID --app ID --id ID [--json]",
  options: {
    ...orgOption,
    ...appOption,
    id: { type: "string", value: "ID", help: "secret ID, as listed by app show", required: true },
    ...jsonOption,
  },
  runWithService: revoke,
};

async function revoke(service: Service, call: Call): Promise<number> {
  const organisation = await requireOrganisation(service, call.values);
  const application = await requireApplication(service, organisation, call);
  const { orgId, id: applicationId } = application;
  const id = requiredText(call.values, "id").toLowerCase();
  const known = application.secrets.find((secret) => secret.id === id);
  if (!known) throw new Error(`the application has no secret "${id}"`);
  const revoked = await revokeSecret(service, { orgId, applicationId, id, actor: OPERATOR });
  const after = await findApplication(service.database.query, orgId, applicationId);
  const secret = after?.secrets.find((one) => one.id === id) ?? known;
  return printResult(call, { clientId: applicationId, ...secretRecord(secret) }, () => [
    revoked ? "Secret revoked." : "The secret was already revoked.",
    ...lastSecretNote(after, service.clock()),
  ]);
}

function lastSecretNote(application: Application | undefined, now: number): string[] {
  const left = application?.secrets.filter((secret) => isActive(secret, now)).length ?? 0;
  return left > 0 ? [] : ["The application has no active secret left. Add one: signet secret create"];
}

export const secretCommands: readonly Command[] = [secretCreate, secretRevoke];
