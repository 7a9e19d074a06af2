/** Demands that the signatures of tokens are in the organisation's ledger: once a token, its proof is kept. */
import { errorReporter } from "../application-callbacks.ts";
import { sha256Base64url } from "../base64url.ts";
import type { LedgerSettings } from "../configuration/settings.ts";
import { SignetError } from "../errors.ts";
import type { Runtime } from "../filter.ts";
import { pause } from "../pause.ts";
import { createHttp, type Http, type HttpAnswer, providerError } from "../provider/http.ts";
import { createSingleFlight } from "../sign-in/single-flight.ts";
import { type Claims, isRecord } from "../tokens/claims.ts";
import { createProofVerifier, notWitnessed } from "./verify-proof.ts";

/** A token without a proof, as `onUnproven` gets it. Nothing in it is a credential. */
export interface UnprovenToken {
  /** SHA-256 of the signing input, base64url: what the ledger would call it. */
  readonly sha256: string;
  readonly kid: string | undefined;
  readonly claims: Claims;
}

/** Functions of `createLedgerProofs`. */
export interface LedgerProofOptions extends Runtime {
  /**
   * Receives every token whose signature has no proof, with `requireLedgerProof: "async"` after its request has gone on: a signature
   * that the service hides, or a stolen key that signs elsewhere. Whoever is on call should hear of it.
   */
  readonly onUnproven?: (error: SignetError, token: UnprovenToken) => void;
  /** An access token for a ledger that is for members, e.g. of `clientCredentials`. Default: none is sent. */
  readonly ledgerToken?: () => Promise<string>;
  /** Between two attempts, for tests. Default: a timer. */
  readonly wait?: (milliseconds: number) => Promise<void>;
}

/** A verified token. */
export interface ProvableToken {
  readonly token: string;
  readonly kind: "access_token" | "id_token";
  readonly kid: string | undefined;
  readonly claims: Claims;
}

/** See `createLedgerProofs`. */
export interface LedgerProofs {
  /**
   * With `async`, resolves at once for a token that it sees for the first time, and checks behind it; a token that once had no proof
   * is not let through again without one.
   * @throws SignetError `ledger_proof_missing`, `ledger_not_witnessed`, `ledger_proof_invalid`, `provider_unreachable`,
   * `provider_answer`
   */
  require(token: ProvableToken): Promise<void>;
}

/** A signature is in the ledger at most ten seconds after it was made; a checkpoint comes each second. */
const ATTEMPTS = 12;
const PAUSE_MS = 1_000;
/** The merge delay, and what the clocks of both may differ by. */
const YOUNG_SECONDS = 70;
const KEEP_PROVEN_MS = 24 * 60 * 60_000;
const KEEP_FAILED_MS = 5_000;
const MAX_TOKENS = 20_000;

/**
 * Verifies that the signatures of tokens are in a ledger, in a checkpoint that enough of the configured witnesses have cosigned.
 * For `verifyAccessToken` and `verifyIdToken`; OAuthUserBearer makes its own from the configuration.
 * @example
 * const { ledger: settings, environment } = checkConfiguration(configuration);
 * const ledger = settings && createLedgerProofs({ ...settings, environment });
 * await verifyAccessToken(token, { keys, issuer, audience, allowUntyped: false, clock: Date.now, ledger });
 */
export function createLedgerProofs(
  settings: LedgerSettings & { readonly environment: string },
  options: LedgerProofOptions = {},
): LedgerProofs {
  const { clock = Date.now, onUnproven } = options;
  const report = errorReporter(options.onError);
  const prove = createProver(settings, options);
  const flights = createSingleFlight<SignetError | undefined>({
    clock,
    keepMs: (error) => (error ? KEEP_FAILED_MS : KEEP_PROVEN_MS),
    maxEntries: MAX_TOKENS,
  });
  const unproven = boundedSet(MAX_TOKENS);
  const check = async (token: ProvableToken, sha256: string): Promise<SignetError | undefined> => {
    try {
      await prove(token, sha256);
      unproven.delete(sha256);
      return undefined;
    } catch (error) {
      if (!(error instanceof SignetError)) throw error;
      unproven.add(sha256);
      report(error);
      const { kid, claims } = token;
      errorReporter(() => onUnproven?.(error, { sha256, kid, claims }))(error);
      return error;
    }
  };
  return {
    require: async (token) => {
      const sha256 = await sha256Base64url(token.token.slice(0, token.token.lastIndexOf(".")));
      const isKnown = flights.isKept(sha256) || unproven.has(sha256);
      const outcome = flights.run(sha256, () => check(token, sha256));
      if (settings.mode === "async" && !isKnown) return void outcome.catch(report);
      const error = await outcome;
      if (error) throw error;
    },
  };
}

function createProver(
  settings: LedgerSettings & { readonly environment: string },
  options: LedgerProofOptions,
) {
  const { clock = Date.now, wait = pause } = options;
  const verify = createProofVerifier(settings);
  const http = createHttp(options, {
    ...{ environment: settings.environment, setting: "ledgerUrl (SIGNET_LEDGER_URL)", acceptsText: true },
  });
  return async ({ kid, kind, claims }: ProvableToken, sha256: string): Promise<void> => {
    const { iat = 0 } = claims;
    // What is older would be there.
    const attempts = clock() / 1000 - iat > YOUNG_SECONDS ? 1 : ATTEMPTS;
    for (let attempt = 1; ; attempt++) {
      const answer = await askForProof(http, settings.url, sha256, options.ledgerToken);
      if (answer.status === 200 && typeof answer.body === "string")
        return verify(answer.body, { sha256, kid, kind });
      const error = refusalOf(answer);
      if (!error.code.startsWith("ledger_") || attempt >= attempts) throw error;
      await wait(PAUSE_MS);
    }
  };
}

async function askForProof(
  http: Http,
  url: string,
  sha256: string,
  ledgerToken: LedgerProofOptions["ledgerToken"],
): Promise<HttpAnswer> {
  const token = await ledgerToken?.();
  const headers = {
    accept: "text/plain",
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  };
  return http.json(`${url}/proof?sha256=${sha256}`, { headers });
}

function refusalOf(answer: HttpAnswer): SignetError {
  const type = isRecord(answer.body) ? answer.body["type"] : undefined;
  if (answer.status !== 404 || typeof type !== "string") return providerError(answer, "ledger");
  if (type === "urn:signet:error:not-witnessed") return notWitnessed(answer.request);
  if (type !== "urn:signet:error:not-logged") return providerError(answer, "ledger");
  const description = "The token's signature is not in the ledger.";
  return new SignetError("ledger_proof_missing", `${description} ${answer.request}`, { description });
}

/** The oldest go first. */
function boundedSet(max: number) {
  const items = new Set<string>();
  return {
    has: (item: string) => items.has(item),
    delete: (item: string) => items.delete(item),
    add: (item: string) => {
      items.delete(item);
      items.add(item);
      for (const oldest of items) {
        if (items.size <= max) return;
        items.delete(oldest);
      }
    },
  };
}
