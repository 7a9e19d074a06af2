/** `signet secret …`: client secrets. Several can be active at once, for rotation without downtime. */
import type { Application } from "../../core/applications/application.ts";
import { findApplication } from "../../core/applications/applications.store.ts";
import {
  createClientSecret,
  isActive,
  isSecretLabel,
  revokeSecret,
} from "../../core/applications/client-secrets.ts";
import { secretRecord } from "../../features/management-api/clients/client-secret-record.ts";
import {
  appOption,
  type Command,
  type Options,
  type OrganisationCall,
  optionalText,
  requiredText,
  UsageError,
} from "../command.ts";
import { fields, printResult } from "../output.ts";
import { readExpiry } from "../times.ts";
import { requireApplication } from "../with-service.ts";

/** Of a new secret or key pair. */
export const credentialOptions: Options = {
  label: { value: "TEXT", help: "label to tell it from others" },
  expires: {
    value: "TIME",
    help: "days from now (90), a date (2027-01-31, midnight UTC) or a time (2027-01-31T12:00:00Z)",
  },
};

/** @throws UsageError */
export function readCredentialOptions({ values, service }: OrganisationCall) {
  const label = optionalText(values, "label") ?? "";
  if (!isSecretLabel(label)) throw new UsageError("--label must be at most 100 plain characters");
  return { label, expiresAt: readExpiry(optionalText(values, "expires"), service.clock) };
}

export const secretCommands: readonly Command[] = [
  {
    name: "secret create",
    summary: "create a client secret, shown once; existing secrets stay active",
    usage: "--org ID --app ID [--label TEXT] [--expires TIME] [--json]",
    options: { ...appOption, ...credentialOptions },
    examples: ["signet secret create --org 01998d6e-… --app 01998d70-… --label autumn --expires 90"],
    runInOrganisation: create,
  },
  {
    name: "secret revoke",
    summary: "revoke a client secret immediately; the application's other secrets stay active",
    usage: "--org ID --app ID --id ID [--json]",
    options: {
      ...appOption,
      id: { value: "ID", help: "secret ID, as listed by app show", required: true },
    },
    runInOrganisation: revoke,
  },
];

async function create(call: OrganisationCall): Promise<number> {
  const settings = readCredentialOptions(call);
  const { id: clientId, name, clientType } = await requireApplication(call);
  if (clientType !== "confidential")
    throw new Error(`"${name}" is a ${clientType} client, which can't have a client secret`);
  const secretSettings = { ...call.by, applicationId: clientId, ...settings };
  const { secret, plaintext: clientSecret } = await createClientSecret(call.service, secretSettings);
  const record = { clientId, ...secretRecord(secret), clientSecret };
  return printResult(call, record, () => [
    ...fields({ clientId, secretId: secret.id, clientSecret, expires: record.expiresAt ?? "never" }),
    "",
    "Copy the secret now: Signet can't show it again.",
  ]);
}

async function revoke(call: OrganisationCall): Promise<number> {
  const { service, by } = call;
  const application = await requireApplication(call);
  const { orgId, id: applicationId } = application;
  const id = requiredText(call.values, "id").toLowerCase();
  const known = application.secrets.find((secret) => secret.id === id);
  if (!known) throw new Error(`the application has no secret "${id}"`);
  const revoked = await revokeSecret(service, { ...by, applicationId, id });
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
