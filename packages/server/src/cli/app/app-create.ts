/** `signet app create`. */
import type { ClientType } from "@signet/protocol/oauth/redirect-uri";
import { type Application, usesSecrets } from "../../core/applications/application.ts";
import { createApplication } from "../../core/applications/applications.ts";
import { createClientSecret } from "../../core/applications/client-secrets.ts";
import { issuerOf } from "../../core/organisations/organisation.ts";
import {
  type Command,
  choice,
  type OrganisationCall,
  optionalText,
  requiredText,
  type Values,
} from "../command.ts";
import { fields, printResult } from "../output.ts";
import { inOneTransaction } from "../with-service.ts";
import { appRecord } from "./app-record.ts";
import { explainFaults, readNewSettings, settingOptions } from "./app-settings.ts";
import { type ChosenStack, newSettingsOf, readStack, stackOptions, stackOutput } from "./app-stack.ts";

const clientTypes: readonly ClientType[] = ["confidential", "public", "native", "spa"];

export const appCreate: Command = {
  name: "app create",
  summary: "create an application; a confidential one gets a client secret, shown once",
  usage: "--org ID (--for STACK [--url URL] | --name NAME --type TYPE) [options]",
  options: {
    ...stackOptions,
    name: {
      value: "NAME",
      help: "display name, shown on the consent page (with --for, default: the stack's)",
      requiredWithout: "for",
    },
    type: {
      value: "TYPE",
      help: "confidential (server-side, keeps a secret), native, spa (single-page app) or public; --for decides it",
      requiredWithout: "for",
    },
    ...settingOptions,
  },
  examples: [
    "signet app create --org 01998d6e-… --for spring --url https://shop.example --name Shop",
    "signet app create --org 01998d6e-… --for grafana --url https://grafana.example",
    "signet app create --org 01998d6e-… --name Shop --type confidential --redirect-uri https://shop.example/callback",
    "signet app create --org 01998d6e-… --name Phone --type native --redirect-uri com.example.phone:/callback",
    "signet app create --org 01998d6e-… --name Batch --type confidential --grant client_credentials --scope jobs:run",
    "signet app create --org 01998d6e-… --name Bank --type confidential --auth-method private_key_jwt --jwks bank.jwks.json --redirect-uri https://bank.example/callback",
    "signet app create --org 01998d6e-… --name Meters --type confidential --auth-method tls_client_auth --bind-tokens --grant client_credentials --scope readings:write",
  ],
  runInOrganisation: create,
};

async function create(call: OrganisationCall): Promise<number> {
  const { service, values, io } = call;
  const chosen = readStack(values);
  const name = chosen ? (optionalText(values, "name") ?? chosen.stack.title) : requiredText(values, "name");
  const clientType = readClientType(values, chosen);
  const settings = { ...newSettingsOf(chosen), ...readNewSettings(values) };
  const { by } = call;
  // An application is never stored without its first secret.
  const { application, first } = await inOneTransaction(service, async (inside) => {
    const application = await createApplication(inside, { ...by, name, clientType, settings });
    if (!usesSecrets(application)) return { application };
    const firstSecret = { ...by, applicationId: application.id, label: "first", expiresAt: null };
    return { application, first: await createClientSecret(inside, firstSecret) };
  }).catch(explainFaults(values));
  const secrets = first ? [first.secret] : [];
  const { baseUrl } = call.config;
  const issuer = issuerOf(baseUrl, by.orgId);
  if (isUnreachable(application))
    io.printError("Note: users can't sign in without a redirect URI (--redirect-uri).");
  const forStack = stackOutput(chosen, application, baseUrl, first?.plaintext);
  return printResult(
    call,
    {
      issuer,
      ...appRecord({ ...application, secrets }),
      ...(first ? { clientSecret: first.plaintext } : {}),
      ...forStack.document,
    },
    () => [
      ...fields({ issuer, clientId: application.id, clientSecret: first?.plaintext }),
      ...(first ? ["", "Copy the secret now: Signet can't show it again."] : []),
      ...forStack.lines,
    ],
  );
}

/** @throws UsageError when `--type` contradicts `--for` */
export function readClientType(values: Values, chosen: ChosenStack | undefined): ClientType {
  if (!chosen) return choice("type", requiredText(values, "type"), clientTypes);
  return optionalText(values, "type") === undefined
    ? chosen.stack.clientType
    : choice("type", requiredText(values, "type"), [chosen.stack.clientType]);
}

const isUnreachable = ({ settings }: Application): boolean =>
  settings.grantTypes.includes("authorization_code") &&
  settings.redirectUris.length + settings.returnUrls.length === 0;
