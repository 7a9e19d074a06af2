/** The filter SystemAccountExternal: an API that is called by system accounts (specification, "HMAC API authentication"). */
import { checkConfiguration, type Settings, type SignetConfiguration } from "../configuration.ts";
import { SignetError } from "../errors.ts";
import type { Filter, FilterResult, Runtime } from "../filter.ts";
import type { Principal } from "../principal.ts";
import { teller } from "../teller.ts";
import { createRequestVerifier, type ReceiverOptions } from "./verify-request.ts";

/** What `systemAccountExternal` takes beside its configuration. */
export interface SystemAccountExternalOptions
  extends Runtime,
    Omit<ReceiverOptions, "secretKeyOf" | "clock"> {
  /**
   * The secret key of a public key (a UUID in lower case); undefined for one that is unknown or may not call. Default: the one
   * pair of the configuration.
   */
  readonly secretKeyOf?: ReceiverOptions["secretKeyOf"];
}

/**
 * Protects an API whose callers sign their requests: in the strict form, each holds once and for five minutes at most; the
 * form that covers the body alone only with `acceptPlain`. The body is read of a copy: a handler finds it unread, byte for
 * byte. Behind a body parser there is nothing to check any more, so that the filter has to come first.
 *
 * Nonces are remembered in this process: several instances share a memory (`nonces`).
 *
 * @throws SignetError `configuration`
 * @example
 * const filter = systemAccountExternal(configuration, { secretKeyOf: (publicKey) => secrets.get(publicKey) });
 * const result = await filter.authenticate(request);
 * if (result.kind === "authenticated") console.log("called by", result.principal.subject);
 */
export function systemAccountExternal(
  configuration: SignetConfiguration,
  options: SystemAccountExternalOptions = {},
): Filter {
  const settings = checkConfiguration({ ...configuration, filterType: "SystemAccountExternal" });
  const onError = teller(options.onError);
  const verify = createRequestVerifier({
    ...options,
    secretKeyOf: options.secretKeyOf ?? onlyPair(settings),
  });
  return {
    filterType: "SystemAccountExternal",
    authenticate: async (request): Promise<FilterResult> => {
      // Signed wrongly is never the same as not signed.
      if (settings.isOptional && !request.headers.has("authorization"))
        return { kind: "anonymous", cookies: [] };
      try {
        const { publicKey } = await verify(request);
        return { kind: "authenticated", principal: principalOf(publicKey, settings), cookies: [] };
      } catch (error) {
        if (!(error instanceof SignetError)) throw error;
        onError(error);
        return { kind: "answer", response: refusal(error), error };
      }
    },
  };
}

/** @throws SignetError `configuration` */
function onlyPair({ systemAccount }: Settings): ReceiverOptions["secretKeyOf"] {
  if (systemAccount === undefined) {
    const reason =
      "SystemAccountExternal needs secretKeyOf, or systemAccountPublicKey and systemAccountSecretKey: whose signatures hold.";
    throw new SignetError("configuration", reason, { reasons: [reason] });
  }
  const { publicKey, secretKey } = systemAccount;
  return (presented) => (presented === publicKey.toLowerCase() ? secretKey : undefined);
}

function principalOf(publicKey: string, { applicationId }: Settings): Principal {
  return {
    authenticatedBy: "SystemAccountExternal",
    kind: "service",
    subject: publicKey,
    user: undefined,
    clientId: applicationId,
    scopes: new Set(),
    claims: {},
    accessToken: undefined,
    sessionKey: undefined,
  };
}

/** RFC 9110 §11.6.1 wants a challenge with every 401. */
function refusal({ status, code, message }: SignetError): Response {
  const challenge: Record<string, string> = status === 401 ? { "www-authenticate": "Signet" } : {};
  const headers = { "cache-control": "no-store", ...challenge };
  return Response.json({ error: code, error_description: message }, { status, headers });
}
