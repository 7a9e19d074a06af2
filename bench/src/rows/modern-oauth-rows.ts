/**
 * What modern OAuth costs (issue 25): client credentials with a DPoP proof, beside the same without; and a pushed authorization request.
 * Each beside a bare server that does that work alone.
 */
import { createHash, generateKeyPairSync, randomUUID, sign } from "node:crypto";
import type { Bench } from "../bench.ts";
import { barePost, startBare } from "../contestants/bare-contestant.ts";
import type { RunningSignet } from "../contestants/signet-server.ts";
import { codeVerifier } from "../contestants/works.ts";
import { figuresOf, ratioInRounds } from "../load/figure.ts";
import { loadedSide, measureInTurns } from "../load/in-turns.ts";
import type { Call } from "../load/load-plan.ts";
import type { Measured, Row } from "../row.ts";

export const modernOAuthRows: readonly Row[] = [
  { name: "dpop", title: "Client credentials with DPoP", measure: measureDpop },
  { name: "par", title: "Pushed authorization request", measure: measurePar },
];

const BAR = 0.6;
/** More than a server on two cores has done; one that is faster ends its interval early. */
const PROOFS_PER_SECOND = 6_000;

async function measureDpop(bench: Bench): Promise<Measured> {
  const bare = await startBare("prove", bench.newFolder("bare-dpop"));
  const signet = await bench.unlimited();
  const { issuer, serviceApp } = signet.demo;
  const url = `${issuer}/token`;
  const call = postOf(url, serviceApp, { grant_type: "client_credentials" });
  const load = await bench.load();
  const proofsFor = (seconds: number) => ({
    ...({ kind: "headers", name: "DPoP" } as const),
    values: newProofs(url, Math.ceil(PROOFS_PER_SECOND * seconds)),
  });
  const sides = [
    loadedSide(load, { name: "bare", pids: bare.pids }, async ({ seconds }) => ({
      ...{ port: bare.port, call: barePost({ grant_type: "client_credentials" }) },
      ...{ expectedText: bare.expectedText, vary: proofsFor(seconds) },
    })),
    loadedSide(load, { name: "signet", pids: [signet.pid] }, async ({ seconds }) => ({
      ...{ port: signet.port, call, expectedText: '"token_type":"DPoP"', vary: proofsFor(seconds) },
    })),
    loadedSide(load, { name: "without proof", pids: [signet.pid] }, async () => ({
      ...{ port: signet.port, call, expectedText: '"token_type":"Bearer"' },
    })),
  ];
  const rounds = await measureInTurns<string>(sides, bench.options);
  return {
    figures: figuresOf(rounds),
    checks: [
      ...ofBare(rounds),
      {
        what: "CPU, of that without proof",
        value: ratioInRounds(rounds, "cpuMicros", ["signet", "without proof"]),
      },
    ],
    notes: ["each proof is used up in the database; bare remembers none"],
    intervals: rounds,
  };
}

async function measurePar(bench: Bench): Promise<Measured> {
  const bare = await startBare("insert", bench.newFolder("bare-par"));
  const signet = await bench.unlimited();
  const request = authorizationRequest(signet);
  const load = await bench.load();
  const sides = [
    loadedSide(load, { name: "bare", pids: bare.pids }, async () => ({
      ...{ port: bare.port, call: barePost(request), expectedText: bare.expectedText },
    })),
    loadedSide(load, { name: "signet", pids: [signet.pid] }, async () => ({
      ...{ port: signet.port, call: postOf(`${signet.demo.issuer}/par`, signet.demo.webApp, request) },
      ...{ expectedStatus: 201, expectedText: "urn:ietf:params:oauth:request_uri:" },
    })),
  ];
  const rounds = await measureInTurns<string>(sides, bench.options);
  return { figures: figuresOf(rounds), checks: ofBare(rounds), intervals: rounds };
}

const ofBare = (rounds: Awaited<ReturnType<typeof measureInTurns<string>>>) => [
  {
    what: "CPU of bare",
    value: ratioInRounds(rounds, "cpuMicros", ["bare", "signet"]),
    bar: { atLeast: BAR },
  },
  { what: "rate of bare", value: ratioInRounds(rounds, "perSecond", ["signet", "bare"]) },
];

const authorizationRequest = ({ demo }: RunningSignet): Record<string, string> => ({
  ...{ response_type: "code", redirect_uri: demo.webApp.redirectUris[0] ?? "", scope: "openid email" },
  ...{ state: "bench", nonce: "bench", code_challenge_method: "S256" },
  code_challenge: createHash("sha256").update(codeVerifier).digest("base64url"),
});

const postOf = (
  url: string,
  { clientId, clientSecret }: { readonly clientId: string; readonly clientSecret: string },
  form: Record<string, string>,
): Call => ({
  ...{ method: "POST", path: new URL(url).pathname },
  form: { ...form, client_id: clientId, client_secret: clientSecret },
});

/** By one key, each with a `jti` of its own (RFC 9449 §4.2): made before the interval. */
function newProofs(htu: string, count: number): string[] {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const jwk = publicKey.export({ format: "jwk" });
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const head = encode({ typ: "dpop+jwt", alg: "ES256", jwk });
  const iat = Math.floor(Date.now() / 1_000);
  return Array.from({ length: count }, () => {
    const input = `${head}.${encode({ htm: "POST", htu, iat, jti: randomUUID() })}`;
    const key = { key: privateKey, dsaEncoding: "ieee-p1363" } as const;
    return `${input}.${sign("sha256", Buffer.from(input), key).toString("base64url")}`;
  });
}
