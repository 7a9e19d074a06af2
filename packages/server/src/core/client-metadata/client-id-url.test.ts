import assert from "node:assert/strict";
import { test } from "node:test";
import { isClientIdUrl } from "./client-id-url.ts";

test("a client_id is an https URL with a host name and a path, in its normal form", () => {
  for (const fine of [
    "https://agent.example/client.json",
    "https://agent.example:8443/a/b",
    "https://localhost/x",
  ])
    assert.equal(isClientIdUrl(fine), true, fine);
  for (const wrong of [
    ...["http://agent.example/x", "https://agent.example", "https://agent.example/", "https://127.0.0.1/x"],
    ...[
      "https://[::1]/x",
      "https://agent.example/x?y",
      "https://agent.example/x?",
      "https://agent.example/x#y",
    ],
    ...["https://agent.example/x#", "https://u@agent.example/x", "https://@agent.example/x"],
    ...["https://u:p@agent.example/x", "https://agent.example/a/../x", "https://agent.example/./x"],
    ...["https://agent.example/%2e%2e/x", "https://agent.example/a%2fb", "https://agent.example\\x"],
    ...["https://AGENT.example/x", "HTTPS://agent.example/x", "https://agent.example:443/x"],
    ...[
      "https://agent.example/ä",
      "https://agent.example/a b",
      " https://agent.example/x",
      "https://0x7f.1/x",
    ],
    ...["https://2130706433/x", `https://agent.example/${"x".repeat(2_048)}`, "https:/agent.example/x"],
  ])
    assert.equal(isClientIdUrl(wrong), false, wrong);
});
