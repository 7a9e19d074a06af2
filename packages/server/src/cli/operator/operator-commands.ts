/** `signet operator …`: who may manage every organisation by API v1 (api-v1.md, "Operators"). */
import { createApplication } from "../../core/applications/applications.ts";
import { createClientSecret } from "../../core/applications/client-secrets.ts";
import { requireOperatorsOrganisation } from "../../core/operators/operators.ts";
import { issuerOf, type Organisation } from "../../core/organisations/organisation.ts";
import { apiScopes, isApiScope, operatorScopes } from "../../core/scopes/api-scopes.ts";
import { inviteUser } from "../../core/users/invitations/invitations.ts";
import type { Service } from "../../modules/open-service.ts";
import {
  type Call,
  type Command,
  jsonOption,
  optionalText,
  repeatedText,
  requiredText,
  UsageError,
} from "../command.ts";
import { fields, printResult } from "../output.ts";
import { inOneTransaction, OPERATOR } from "../with-service.ts";

export const operatorCommands: readonly Command[] = [
  {
    name: "operator create",
    summary:
      "create an operator, who may manage every organisation by API v1; a client, or a person with --email",
    usage: "--name NAME [--scope SCOPE]… [--email ADDRESS] [--json]",
    options: {
      name: { value: "NAME", help: "name of the client or person", required: true },
      scope: {
        value: "SCOPE",
        multiple: true,
        help: "scope of the client, such as signet:organisations:read; repeatable (default: all)",
      },
      email: { value: "ADDRESS", help: "invite a person by email, as an administrator of the operators" },
      ...jsonOption,
    },
    examples: [
      "signet operator create --name Provisioning --scope signet:organisations:write",
      'signet operator create --name "Ada Lovelace" --email ada@example.com',
    ],
    mayBegin: true,
    runWithService: (service, call) =>
      optionalText(call.values, "email") === undefined ? createClient(service, call) : invite(service, call),
  },
];

const everyScope = [...apiScopes, ...operatorScopes];

async function createClient(service: Service, call: Call): Promise<number> {
  const { values } = call;
  const name = requiredText(values, "name");
  const named = repeatedText(values, "scope");
  const unknown = named.find((scope) => !isApiScope(scope));
  if (unknown !== undefined) throw new UsageError(`--scope ${unknown}: is none of ${everyScope.join(", ")}`);
  const allowedScopes = named.length === 0 ? everyScope : named;
  const settings = { grantTypes: ["client_credentials"] as const, allowedScopes };
  const { organisation, application, secret } = await inOneTransaction(service, async (inside) => {
    const organisation = await requireOperatorsOrganisation(inside, { actor: OPERATOR });
    const by = { orgId: organisation.id, actor: OPERATOR };
    const made = { ...by, name, clientType: "confidential" as const, settings };
    const application = await createApplication(inside, made);
    const first = { ...by, applicationId: application.id, label: "first", expiresAt: null };
    return { organisation, application, secret: await createClientSecret(inside, first) };
  });
  const shown = {
    issuer: issuerOf(call.config.baseUrl, organisation.id),
    clientId: application.id,
    clientSecret: secret.plaintext,
  };
  return printResult(call, { ...shown, name, scopes: allowedScopes }, () => [
    ...fields(shown),
    "",
    "Copy the secret now: Signet can't show it again.",
  ]);
}

async function invite(service: Service, call: Call): Promise<number> {
  const { values } = call;
  if (repeatedText(values, "scope").length > 0)
    throw new UsageError(
      "--scope goes with a client: a person has what the application may do that they use",
    );
  if (!service.outbox.isOpen) throw new Error("email is not configured: set SMTP_URL");
  const [firstname = "", ...rest] = requiredText(values, "name").trim().split(/\s+/u);
  const email = requiredText(values, "email");
  const { organisation, id } = await inOneTransaction(service, async (inside) => {
    const organisation: Organisation = await requireOperatorsOrganisation(inside, { actor: OPERATOR });
    const person = { email, firstname, surname: rest.join(" "), role: "Administrator" as const };
    const id = await inviteUser(
      { ...inside, baseUrl: call.config.baseUrl },
      { organisation, ...person, isNew: true, actor: OPERATOR },
    );
    return { organisation, id };
  });
  const issuer = issuerOf(call.config.baseUrl, organisation.id);
  return printResult(call, { issuer, organisation: organisation.id, id, email }, () => [
    ...fields({ issuer, id }),
    "",
    `An invitation is on its way to ${email}.`,
  ]);
}
