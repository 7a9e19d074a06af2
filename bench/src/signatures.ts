/**
 * What the signature of a token costs, by algorithm: `node bench/src/signatures.ts`. Sizes, and processor time of one signature
 * and one check of it on one thread, which others on the machine change little; the figures in docs/benchmarks.md are from here.
 */
import { createPublicKey, generateKeyPairSync, type KeyObject, sign, verify } from "node:crypto";
import { publicJwk } from "../../packages/protocol/src/jose/jwk.ts";
import { signJws, type TokenAlg, tokenAlgorithms } from "../../packages/protocol/src/jose/jws.ts";

const privateKeys: Readonly<Record<TokenAlg, () => KeyObject>> = {
  ES256: () => generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey,
  RS256: () => generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey,
  PS256: () => generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey,
  EdDSA: () => generateKeyPairSync("ed25519").privateKey,
  "ML-DSA-44": () => generateKeyPairSync("ml-dsa-44").privateKey,
  "ML-DSA-65": () => generateKeyPairSync("ml-dsa-65").privateKey,
  "ML-DSA-87": () => generateKeyPairSync("ml-dsa-87").privateKey,
};

/** As long as those of an access token are. */
const claims = {
  iss: "https://id.example/oauth/01998d6e-0000-7000-8000-000000000000",
  sub: "01998d6e-0000-7000-8000-000000000001",
  aud: "https://api.example",
  iat: 1_795_910_400,
  exp: 1_795_914_000,
  jti: "01998d6e-0000-7000-8000-000000000002",
  client_id: "01998d6e-0000-7000-8000-000000000003",
  org_id: "01998d6e-0000-7000-8000-000000000000",
  scope: "openid profile email",
};

const ROUNDS = 7;
const MILLISECONDS = 300;

/** Microseconds of processor time for one, the median of the rounds. */
function cost(work: () => unknown): number {
  const figures = Array.from({ length: ROUNDS }, () => {
    const [start, ends] = [process.cpuUsage(), performance.now() + MILLISECONDS];
    let count = 0;
    for (; performance.now() < ends; count++) work();
    const { user, system } = process.cpuUsage(start);
    return (user + system) / count;
  });
  return figures.toSorted((a, b) => a - b)[ROUNDS >> 1] ?? 0;
}

const input = Buffer.alloc(500, "a");
console.log("| Algorithm | JWK | Signature | Access token | Sign | Verify |\n|---|---|---|---|---|---|");
for (const [name, newKey] of Object.entries(privateKeys)) {
  const alg = name as TokenAlg;
  const privateKey = newKey();
  const key = createPublicKey(privateKey);
  const { digest, options } = tokenAlgorithms[alg];
  const jwk = JSON.stringify(publicJwk(privateKey, "k".repeat(43), alg)).length;
  const token = await signJws({ alg, kid: "k".repeat(43), typ: "at+jwt", privateKey, payload: claims });
  const signature = sign(digest, input, { key: privateKey, ...options });
  const signing = cost(() => sign(digest, input, { key: privateKey, ...options }));
  const checking = cost(() => verify(digest, input, { key, ...options }, signature));
  const times = `${signing.toFixed(0)} µs | ${checking.toFixed(0)} µs`;
  console.log(`| ${alg} | ${jwk} | ${signature.length} | ${token.length} | ${times} |`);
}
