/** Fetches a JSON object from an identity provider. */
import { ConnectionSignInFailure } from "../../../../core/connections/sign-in/failure.ts";
import { type Outbound, OutboundFailure } from "../../../../core/outbound/outbound.ts";

/** @throws ConnectionSignInFailure */
export async function fetchJson(
  outbound: Outbound,
  orgId: string,
  address: string,
): Promise<Readonly<Record<string, unknown>>> {
  const { status, body } = await outbound.call(orgId, address).catch((error: unknown) => {
    throw outboundFailure(error) ?? error;
  });
  if (status !== 200)
    throw new ConnectionSignInFailure(status >= 400 ? "upstream-error" : "upstream-garbage", {
      detail: `${new URL(address).pathname}: status ${status}`,
    });
  const parsed = parse(body.toString());
  if (typeof parsed === "object" && parsed !== null && !Array.isArray(parsed))
    return parsed as Readonly<Record<string, unknown>>;
  throw new ConnectionSignInFailure("upstream-garbage", {
    detail: `${new URL(address).pathname}: no JSON object`,
  });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

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
