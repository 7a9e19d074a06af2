import assert from "node:assert/strict";
import { test } from "node:test";
import { unsignedResponseMode } from "./request-object.ts";

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
const none = encode({ alg: "none" });
const object = (payload: unknown) => `${none}.${encode(payload)}.`;

test("reads the response_mode of an unsigned request object", () => {
  for (const mode of ["query", "fragment", "form_post", "anything"])
    assert.equal(unsignedResponseMode(object({ response_mode: mode, iss: "x" })), mode);
});

test("reads nothing from signed, malformed and oversized objects", () => {
  const payload = encode({ response_mode: "form_post" });
  const objects: Record<string, string | undefined> = {
    absent: undefined,
    empty: "",
    "no object": "form_post",
    "without a signature part": `${none}.${payload}`,
    "with a signature": `${none}.${payload}.c2ln`,
    "with five parts": `${none}.${payload}...`,
    "signed with RS256": `${encode({ alg: "RS256" })}.${payload}.`,
    "without alg": `${encode({})}.${payload}.`,
    "alg in other letters": `${encode({ alg: "None" })}.${payload}.`,
    "a header that is no object": `${encode("none")}.${payload}.`,
    "a header that is null": `${encode(null)}.${payload}.`,
    "no base64url": `${none}.%%%.`,
    "a payload that is no JSON": `${none}.bm8.`,
    "a payload that is a list": object(["form_post"]),
    "a payload that is null": object(null),
    "without a mode": object({}),
    "an inherited mode": `${none}.${Buffer.from('{"__proto__":{"response_mode":"form_post"}}').toString("base64url")}.`,
    "a mode that is no text": object({ response_mode: ["form_post"] }),
    oversized: object({ response_mode: "form_post", padding: "x".repeat(16_384) }),
  };
  for (const [what, text] of Object.entries(objects))
    assert.equal(unsignedResponseMode(text), undefined, what);
});
