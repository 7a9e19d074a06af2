/** The demo's system accounts, and shell commands that make signed calls with them. */
import { createSystemAccount } from "../../core/system-accounts/system-accounts.ts";
import type { Service } from "../../modules/open-service.ts";
import { OPERATOR } from "../with-service.ts";
import type { DemoWithoutExamples } from "./demo-examples.ts";
import type { DemoAccount, DemoFile } from "./demo-file.ts";

/** Adds the system accounts that a demo of an earlier version lacks. */
export async function withAccounts(
  service: Service,
  file: DemoWithoutAccounts,
): Promise<DemoWithoutExamples> {
  const { org, webApp, serviceApp, otherOrg } = file;
  const make = (orgId: string, applicationId: string, name: string, isAdministrator: boolean) =>
    createAccount(service, { orgId, applicationId, name, isAdministrator });
  return {
    ...file,
    systemAccount: file.systemAccount ?? (await make(org, webApp.clientId, "Demo program", false)),
    administratorAccount:
      file.administratorAccount ?? (await make(org, serviceApp.clientId, "Demo administration", true)),
    otherOrg: {
      ...otherOrg,
      administratorAccount:
        otherOrg.administratorAccount ??
        (await make(otherOrg.org, otherOrg.serviceApp.clientId, "Other administration", true)),
    },
  };
}

type Optional<T, Name extends keyof T> = Omit<T, Name> & Partial<Pick<T, Name>>;
export type DemoWithoutAccounts = Omit<
  Optional<DemoWithoutExamples, "systemAccount" | "administratorAccount">,
  "otherOrg"
> & { readonly otherOrg: Optional<DemoFile["otherOrg"], "administratorAccount"> };

async function createAccount(
  service: Service,
  asked: { orgId: string; applicationId: string; name: string; isAdministrator: boolean },
): Promise<DemoAccount> {
  const { account, key, secret } = await createSystemAccount(service, {
    ...asked,
    requiresStrictSignature: false,
    actor: OPERATOR,
  });
  return {
    id: account.id,
    applicationId: account.applicationId,
    publicKey: key.publicKey,
    secretKey: secret,
  };
}

const sign = (secretKey: string) => `openssl dgst -sha256 -hmac ${secretKey} -binary | openssl base64 -A`;

/** A shell command for curl and openssl. */
export function signedCall({ baseUrl, user, systemAccount }: DemoFile): string {
  const { publicKey, secretKey } = systemAccount;
  const authorization = `"Authorization: ${publicKey}:$(printf %s "$BODY" | ${sign(secretKey)})"`;
  return `BODY='${JSON.stringify({ email: user.email })}'; curl -s ${baseUrl}/legacy/api/users/get -H 'Content-Type: application/json' -H ${authorization} -d "$BODY"`;
}

/** A call without a body signs the empty string. */
export function signedList({ baseUrl, administratorAccount }: DemoFile): string {
  const { publicKey, secretKey } = administratorAccount;
  return `curl -s ${baseUrl}/legacy/api/oauth/clients -H "Authorization: ${publicKey}:$(printf '' | ${sign(secretKey)})"`;
}
