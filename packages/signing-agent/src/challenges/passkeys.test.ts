import assert from "node:assert/strict";
import { createHash, type KeyObject, sign } from "node:crypto";
import { before, describe, test } from "node:test";
import { InvalidFile } from "../configuration/yaml-file.ts";
import { generatePrivateKey, memoryKey } from "../keys/pem-key.ts";
import {
  type Passkeys,
  parseCredentials,
  passkeyChallenge,
  passkeyRequest,
  verifyAssertion,
} from "./passkeys.ts";

const origin = "https://id.example";
const challenge = passkeyChallenge(["a.b", "c.d"]);

describe("passkeys checked by the agent", () => {
  let privateKey: KeyObject;
  let passkeys: Passkeys;
  before(async () => {
    privateKey = await generatePrivateKey("ES256");
    const jwk = JSON.stringify(memoryKey(privateKey, "ES256").publicJwk);
    const text = `user: [{ id: cred, publicKey: ${jwk} }]\nother: [{ id: theirs, publicKey: ${jwk} }]\n`;
    const credentials = parseCredentials(text, "passkeys.yaml");
    passkeys = { rpId: "id.example", origins: [origin], userVerification: true, credentials };
  });

  /** What a browser and an authenticator make of the request, as a test wants it. */
  function assertion(
    change: { data?: object; rpId?: string; flags?: number; id?: string; tamper?: boolean } = {},
  ) {
    const data = { type: "webauthn.get", challenge, origin, crossOrigin: false, ...change.data };
    const clientData = Buffer.from(JSON.stringify(data));
    const sha256 = (bytes: string | Buffer) => createHash("sha256").update(bytes).digest();
    const rest = Buffer.from([change.flags ?? 5, 0, 0, 0, 0]);
    const authenticatorData = Buffer.concat([sha256(change.rpId ?? "id.example"), rest]);
    const signature = sign("sha256", Buffer.concat([authenticatorData, sha256(clientData)]), privateKey);
    if (change.tamper) authenticatorData[36] = 9;
    const encode = (bytes: Buffer) => bytes.toString("base64url");
    return {
      id: change.id ?? "cred",
      type: "public-key",
      response: {
        clientDataJSON: encode(clientData),
        authenticatorData: encode(authenticatorData),
        signature: encode(signature),
      },
    };
  }
  const passes = (answer: unknown, over = challenge) => verifyAssertion(answer, passkeys, "user", over);

  test("an assertion of the user's own passkey over these tokens passes", () => {
    assert.equal(passes(assertion()), true);
    assert.deepEqual(passkeyRequest(passkeys, "user", challenge, 120)?.["allowCredentials"], [
      { id: "cred", type: "public-key" },
    ]);
    assert.equal(passkeyRequest(passkeys, "nobody", challenge, 120), undefined);
  });

  test("any other assertion fails", () => {
    assert.equal(passes(assertion(), passkeyChallenge(["a.b", "c.x"])), false);
    const others = [
      assertion({ data: { origin: "https://evil.example" } }),
      assertion({ data: { type: "webauthn.create" } }),
      assertion({ data: { crossOrigin: true } }),
      assertion({ rpId: "evil.example" }),
      assertion({ flags: 1 }),
      assertion({ flags: 4 }),
      assertion({ id: "theirs" }),
      assertion({ id: "unknown" }),
      assertion({ tamper: true }),
      { id: "cred" },
      "confirmed",
      undefined,
    ];
    for (const [index, answer] of others.entries()) assert.equal(passes(answer), false, String(index));
  });

  test("an unreadable credential is named", () => {
    const text = "user: [{ id: cred, publicKey: { kty: EC } }]";
    assert.throws(() => parseCredentials(text, "passkeys.yaml"), InvalidFile);
    assert.throws(() => parseCredentials("user: [{ id: cred }]", "passkeys.yaml"), /publicKey is missing/);
  });
});
