import assert from "node:assert/strict";
import { test } from "node:test";
import { readPkcs11Uri } from "./pkcs11-uri.ts";

const rest = "module-path=/usr/lib/hsm.so&pin-source=/run/secrets/pin";

test("reads token, object, library and the file of the PIN", () => {
  assert.deepEqual(readPkcs11Uri(`pkcs11:token=My%20token;object=key;type=secret-key?${rest}`), {
    token: "My token",
    object: "key",
    module: "/usr/lib/hsm.so",
    pinFile: "/run/secrets/pin",
  });
  const filed = readPkcs11Uri("pkcs11:token=a;object=b?module-path=/x.so&pin-source=file:///pin");
  assert.equal(typeof filed === "string" ? filed : filed.pinFile, "/pin");
});

test("refuses what it would not use, a PIN in the address, and half an address", () => {
  for (const [uri, why] of [
    ["pkcs11:token=a;object=b?module-path=/x&pin-value=1234", /pin-value: put the PIN into a file/],
    [`pkcs11:token=a;object=b;serial=1?${rest}`, /has serial, which Signet does not use/],
    [`pkcs11:token=a;token=b;object=c?${rest}`, /has token twice/],
    [`pkcs11:token=a?${rest}`, /must be pkcs11:token=LABEL/],
    [`pkcs11:token=a;object=%zz?${rest}`, /must be pkcs11:token=LABEL/],
    ["pkcs11:token=a;object=b", /must be pkcs11:token=LABEL/],
    ["https://hsm.example/", /must be pkcs11:token=LABEL/],
  ] as const) {
    const read = readPkcs11Uri(uri);
    assert.equal(typeof read, "string", uri);
    assert.match(String(read), why);
  }
});
