/** Fetches JSON from an identity provider. */
import { ConnectionSignInFailure } from "../../../../core/connections/sign-in/failure.ts";
import {
  type Outbound,
  type OutboundAnswer,
  type OutboundCall,
  OutboundFailure,
} from "../../../../core/outbound/outbound.ts";

export type JsonObject = Readonly<Record<string, unknown>>;

/** @throws ConnectionSignInFailure */
export async function fetchJson(outbound: Outbound, orgId: string, address: string): Promise<JsonObject> {
  return jsonObject(address, await callProvider(outbound, orgId, address));
}

/** @returns an answer of any status. @throws ConnectionSignInFailure */
export const callProvider = (
  outbound: Outbound,
  orgId: string,
  address: string,
  call: OutboundCall = {},
): Promise<OutboundAnswer> =>
  outbound.call(orgId, address, call).catch((error: unknown) => {
    throw outboundFailure(error) ?? error;
  });

/** @throws ConnectionSignInFailure */
export function jsonObject(address: string, answer: OutboundAnswer): JsonObject {
  const parsed = jsonOf(address, answer);
  if (typeof parsed === "object" && parsed !== null && !Array.isArray(parsed)) return parsed as JsonObject;
  throw garbage(address);
}

/** @throws ConnectionSignInFailure */
export function jsonOf(address: string, { status, body }: OutboundAnswer): unknown {
  if (status !== 200)
    throw new ConnectionSignInFailure(status >= 400 ? "upstream-error" : "upstream-garbage", {
      detail: `${new URL(address).pathname}: status ${status}`,
    });
  try {
    return JSON.parse(body.toString());
  } catch {
    throw garbage(address);
  }
}

const garbage = (address: string) =>
  new ConnectionSignInFailure("upstream-garbage", { detail: `${new URL(address).pathname}: no JSON object` });

const reasons = {
  timeout: "upstream-timeout",
  "too-large": "upstream-garbage",
  "bad-address": "upstream-unreachable",
  "forbidden-address": "upstream-unreachable",
  unreachable: "upstream-unreachable",
  busy: "upstream-unreachable",
} as const;

/** @returns undefined when the error is none of the outbound client's, however deep */
export function outboundFailure(error: unknown): ConnectionSignInFailure | undefined {
  let at: unknown = error;
  for (let depth = 0; depth < 5 && at instanceof Error; depth++, at = at.cause)
    if (at instanceof OutboundFailure)
      return new ConnectionSignInFailure(reasons[at.code], { detail: at.message, cause: error });
  return undefined;
}
