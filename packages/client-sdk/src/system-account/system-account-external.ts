/** The filter SystemAccountExternal: an API called by system accounts (specification, "HMAC API authentication"). */
import { errorReporter } from "../application-callbacks.ts";
import { checkConfiguration } from "../configuration/check-configuration.ts";
import type { Settings, SystemAccountExternalConfiguration } from "../configuration/settings.ts";
import { configurationError, SignetError } from "../errors.ts";
import type { Filter, Runtime } from "../filter.ts";
import { principalOfSystemAccount } from "../principal.ts";
import { createRequestVerifier, type ReceiverOptions } from "./verify-request.ts";

/** Options of `systemAccountExternal`. */
export interface SystemAccountExternalOptions
  extends Runtime,
    Omit<ReceiverOptions, "secretKeyOf" | "clock"> {
  /** The secret key of a public key (a lower-case UUID); undefined if unknown or not allowed. Default: the configured pair. */
  readonly secretKeyOf?: ReceiverOptions["secretKeyOf"];
}

/**
 * Protects an API whose callers sign their requests. In the strict form, a request is accepted once and for at most five
 * minutes; signatures of the body alone, as specified, only with `acceptPlain`. The filter reads a copy of the body, so that a handler can
 * still read it. It must run before any body parser.
 *
 * Nonces are remembered in this process; several instances need a shared memory (`nonces`).
 * @throws SignetError `configuration`
 * @example
 * const filter = systemAccountExternal(configuration, { secretKeyOf: (publicKey) => secrets.get(publicKey) });
 * const result = await filter.authenticate(request);
 * if (result.kind === "authenticated") console.log("called by", result.principal.subject);
 */
export function systemAccountExternal(
  configuration: SystemAccountExternalConfiguration,
  options: SystemAccountExternalOptions = {},
): Filter {
  const settings = checkConfiguration({ ...configuration, filterType: "SystemAccountExternal" });
  const reportError = errorReporter(options.onError);
  const secretKeyOf = options.secretKeyOf ?? configuredKey(settings);
  const { acceptPlain = settings.acceptPlain ?? false } = options;
  const verify = createRequestVerifier({ ...options, acceptPlain, secretKeyOf });
  return {
    filterType: "SystemAccountExternal",
    authenticate: async (request) => {
      // An invalid signature is not the same as none.
      if (settings.isOptional && !request.headers.has("authorization"))
        return { kind: "anonymous", cookies: [] };
      try {
        const { publicKey } = await verify(request);
        return {
          kind: "authenticated",
          principal: principalOfSystemAccount(publicKey, settings.applicationId),
          cookies: [],
        };
      } catch (error) {
        if (!(error instanceof SignetError)) throw error;
        reportError(error);
        return { kind: "answer", response: errorResponse(error), error };
      }
    },
  };
}

/** @throws SignetError `configuration` */
function configuredKey({ systemAccount }: Settings): ReceiverOptions["secretKeyOf"] {
  if (systemAccount === undefined)
    throw configurationError(
      "SystemAccountExternal needs secretKeyOf, or systemAccountPublicKey and systemAccountSecretKey.",
    );
  const { publicKey, secretKey } = systemAccount;
  return (presented) => (presented === publicKey.toLowerCase() ? secretKey : undefined);
}

/** RFC 9110 §11.6.1 requires a challenge with every 401. */
function errorResponse({ status, code, description }: SignetError): Response {
  const challenge: Record<string, string> = status === 401 ? { "www-authenticate": "Signet" } : {};
  const headers = { "cache-control": "no-store", ...challenge };
  return Response.json({ error: code, error_description: description }, { status, headers });
}
