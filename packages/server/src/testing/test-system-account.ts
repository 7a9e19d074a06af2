/** Calls with a system account's signature, over real HTTP. */
import { randomUUID } from "node:crypto";
import { hmacSignature, NONCE_HEADER, TIMESTAMP_HEADER } from "@signet/protocol/hmac-signature";
import { createSystemAccount } from "../core/system-accounts/system-accounts.ts";
import type { Service } from "../open-service.ts";
import { ask } from "./ask.ts";
import type { TestOrganisation } from "./test-service.ts";

export interface TestAccount {
  readonly id: string;
  readonly publicKey: string;
  readonly secret: string;
}

/** Of the organisation's web application, unless another one is named. */
export async function makeSystemAccount(
  service: Service,
  org: TestOrganisation,
  more: { administrator?: boolean; strict?: boolean; applicationId?: string } = {},
): Promise<TestAccount> {
  const { account, key, secret } = await createSystemAccount(service, {
    orgId: org.organisation.id,
    applicationId: more.applicationId ?? org.web.application.id,
    name: "Test",
    isAdministrator: more.administrator ?? false,
    requiresStrictSignature: more.strict ?? false,
    actor: "test",
  });
  return { id: account.id, publicKey: key.publicKey, secret };
}

export interface ApiAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Empty when the answer is not JSON. */
  readonly body: Record<string, unknown>;
}

export interface ApiRequest {
  readonly method?: string;
  /** JSON; a string is sent as it is. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sign the strict form, at this moment (milliseconds). */
  readonly strictAt?: number;
  readonly nonce?: string;
}

/** Signed by the account; without one, not signed at all. */
export async function callApi(
  url: string,
  account: Pick<TestAccount, "publicKey" | "secret"> | undefined,
  asked: ApiRequest = {},
): Promise<ApiAnswer> {
  const { method = asked.body === undefined ? "GET" : "POST", body } = asked;
  const sent = body === undefined ? "" : typeof body === "string" ? body : JSON.stringify(body);
  const { pathname, search } = new URL(url);
  const strict = asked.strictAt !== undefined && {
    method,
    target: `${pathname}${search}`,
    timestamp: String(Math.floor(asked.strictAt / 1000)),
    nonce: asked.nonce ?? randomUUID(),
  };
  const headers = new Headers(body === undefined ? {} : { "content-type": "application/json" });
  if (strict) {
    headers.set(TIMESTAMP_HEADER, strict.timestamp);
    headers.set(NONCE_HEADER, strict.nonce);
  }
  if (account) {
    const signature = hmacSignature(account.secret, Buffer.from(sent), strict || undefined);
    headers.set("authorization", `${account.publicKey}:${signature}`);
  }
  for (const [name, value] of Object.entries(asked.headers ?? {})) headers.set(name, value);
  const answer = await ask(url, {
    method,
    headers: Object.fromEntries(headers),
    body: body === undefined ? undefined : sent,
  });
  const { text } = answer;
  const isJson = /json/.test(answer.headers.get("content-type") ?? "");
  return {
    ...answer,
    body: isJson ? (JSON.parse(text) as Record<string, unknown>) : {},
  };
}
