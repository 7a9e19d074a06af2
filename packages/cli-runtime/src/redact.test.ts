import assert from "node:assert/strict";
import { test } from "node:test";
import { jsonLog } from "./log.ts";
import { describeError, redact, rememberSecret } from "./redact.ts";

const SECRET = "s3cr3tVALUE";
const JWT = "eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJ1In0.c2lnbmF0dXJl";

const cases: ReadonlyArray<readonly [what: string, text: string, secret: string]> = [
  ["an API key", "401 for sgn_ak_abcDEF-_123", "abcDEF"],
  ["an enrolment code", "no such code: 8X2KQ-4M7RT-0WNHB-5VCDJ-9GPYA", "4M7RT"],
  ["an enrolment code in lower case", "code 8x2kq-4m7rt-0wnhb-5vcdj-9gpya is used", "4m7rt"],
  ["a token", `unexpected token ${JWT} in JSON`, "eyJ"],
  ["a bearer header", `authorization: Bearer ${SECRET}`, SECRET],
  ["a basic header", `Authorization: Basic ${SECRET}==`, SECRET],
  ["a key in a URL's query", `GET https://kms.example/sign?key=${SECRET}&v=1: 500`, SECRET],
  ["a token in a URL's query", `https://id.example/?refresh_token=${SECRET}`, SECRET],
  ["a password in a URL", `connect postgres://agent:${SECRET}@db.example/x`, SECRET],
  ["a PIN in a PKCS#11 URI", `pkcs11:token=signet?pin-value=${SECRET}`, SECRET],
  ["a private key", `-----BEGIN PRIVATE KEY-----\n${SECRET}\n-----END PRIVATE KEY-----`, SECRET],
];
for (const [what, text, secret] of cases)
  test(`${what} is redacted`, () => assert.ok(!redact(text).includes(secret), redact(text)));

test("a remembered secret is redacted where it stands alone, also in a cause", () => {
  rememberSecret("271828");
  const error = new Error("token signet", { cause: new Error('C_Login("271828") failed') });
  assert.equal(describeError(error), 'token signet: C_Login("[redacted]") failed');
  assert.equal(redact("kid a-271828-b 1271828"), "kid a-271828-b 1271828");
});

test("text without secrets stays as it is", () => {
  for (const text of [
    "ENOENT: no such file or directory, open '/etc/signet-agent/policy.yaml'",
    "client 33333333-3333-4333-8333-333333333333, kid 5Zt-x_9",
    "https://id.example/oauth/ORG/token answered 400 invalid_request: code is missing",
  ])
    assert.equal(redact(text), text);
});

test("the log redacts its fields and stays one line of JSON", () => {
  const lines: string[] = [];
  const log = jsonLog(
    (line) => lines.push(line),
    () => 0,
  );
  log("warn", "call failed", { reason: `Bearer ${SECRET}\n${JWT}`, list: [JWT], count: 1 });
  const [line = ""] = lines;
  assert.deepEqual(JSON.parse(line), {
    time: "1970-01-01T00:00:00.000Z",
    level: "warn",
    message: "call failed",
    reason: "Bearer [redacted]\n[redacted]",
    list: ["[redacted]"],
    count: 1,
  });
});
