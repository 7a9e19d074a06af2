/** `signet app create`. */
import type { ClientType } from "@signet/protocol/oauth/redirect-uri";
import { type Application, usesSecrets } from "../../core/applications/application.ts";
import { createApplication } from "../../core/applications/applications.ts";
import { createClientSecret } from "../../core/applications/client-secrets.ts";
import { InvalidApplication } from "../../core/applications/validation.ts";
import { issuerOf } from "../../core/organisations/organisation.ts";
import type { Service } from "../../modules/open-service.ts";
import { answer, fields } from "../answer.ts";
import { type Call, type Command, choice, jsonOption, orgOption, requiredText } from "../command.ts";
import { OPERATOR, organisationOf, withService } from "../with-service.ts";
import { appRecord } from "./app-record.ts";
import { faultLines, readSettings, settingOptions } from "./app-settings.ts";

const clientTypes: readonly ClientType[] = ["confidential", "public", "native", "spa"];

export const appCreate: Command = {
  name: "app create",
  summary: "make an application; a confidential one gets its first secret, shown once",
  usage: "--org ID --name NAME --type TYPE [options]",
  options: {
    ...orgOption,
    name: { type: "string", value: "NAME", help: "as people see it on the consent page", required: true },
    type: {
      type: "string",
      value: "TYPE",
      help: "confidential (has a server that keeps a secret), native, spa (single-page) or public",
      required: true,
    },
    ...settingOptions,
    ...jsonOption,
  },
  examples: [
    "signet app create --org 01998d6e-… --name Shop --type confidential --redirect-uri https://shop.example/callback",
    "signet app create --org 01998d6e-… --name Phone --type native --redirect-uri com.example.phone:/callback",
    "signet app create --org 01998d6e-… --name Batch --type confidential --grant client_credentials --scope jobs:run",
    "signet app create --org 01998d6e-… --name Bank --type confidential --auth-method private_key_jwt --jwks bank.jwks.json --redirect-uri https://bank.example/callback",
    "signet app create --org 01998d6e-… --name Meters --type confidential --auth-method tls_client_auth --bind-tokens --grant client_credentials --scope readings:write",
  ],
  run: (call) => withService(call, (service) => create(call, service)),
};

async function create(call: Call, service: Service): Promise<number> {
  const { values, io } = call;
  const name = requiredText(values, "name");
  const clientType = choice("type", requiredText(values, "type"), clientTypes);
  const settings = readSettings(values);
  const { id: orgId } = await organisationOf(service, values);
  const made = await inOneTransaction(service, async (inside) => {
    const application = await createApplication(inside, {
      orgId,
      name,
      clientType,
      settings,
      actor: OPERATOR,
    });
    if (!usesSecrets(application)) return { application };
    const wanted = { orgId, applicationId: application.id, label: "first", expiresAt: null, actor: OPERATOR };
    return { application, first: await createClientSecret(inside, wanted) };
  }).catch((error: unknown) => {
    throw error instanceof InvalidApplication ? new Error(faultLines(error, values).join("\n  ")) : error;
  });
  const { application, first } = made;
  const secrets = first ? [first.secret] : [];
  const issuer = issuerOf(call.config.baseUrl, orgId);
  if (isUnreachable(application))
    io.printError("Note: without --redirect-uri nobody can sign in to it, and no code can be sent.");
  return answer(
    call,
    {
      issuer,
      ...appRecord({ ...application, secrets }),
      ...(first ? { clientSecret: first.plaintext } : {}),
    },
    () => [
      ...fields({ issuer, clientId: application.id, clientSecret: first?.plaintext }),
      ...(first ? ["", "The secret is not shown again."] : []),
    ],
  );
}

const isUnreachable = ({ settings }: Application): boolean =>
  settings.grantTypes.includes("authorization_code") &&
  settings.redirectUris.length + settings.returnUrls.length === 0;

/** An application without its secret would be of no use: both or none. */
function inOneTransaction<T>(service: Service, work: (inside: Service) => Promise<T>): Promise<T> {
  return service.database.transaction((tx) =>
    work({ ...service, database: { ...service.database, query: tx, transaction: (inner) => inner(tx) } }),
  );
}
