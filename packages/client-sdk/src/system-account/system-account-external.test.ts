import assert from "node:assert/strict";
import { test } from "node:test";
import type { SignetConfiguration } from "../configuration/settings.ts";
import { signRequest } from "./sign-request.ts";
import { systemAccountExternal } from "./system-account-external.ts";

const keys = { publicKey: "0198c7a3-1111-7222-8333-444455556666", secretKey: "sgn_sa_secret" };
const configuration = {
  filterType: "SystemAccountExternal",
  federationServer: "https://id.example",
  applicationId: "0198c7a3-0000-7222-8333-444455556666",
  systemAccountPublicKey: keys.publicKey.toUpperCase(),
  systemAccountSecretKey: keys.secretKey,
} satisfies SignetConfiguration;
const call = () => new Request("https://stock.example/orders", { method: "POST", body: "{}" });

test("a signed request identifies the system account, once", async () => {
  const filter = systemAccountExternal(configuration);
  const request = await signRequest(call(), keys);
  const result = await filter.authenticate(request.clone());
  assert.ok(result.kind === "authenticated");
  const { kind, subject, authenticatedBy, clientId, user } = result.principal;
  assert.deepEqual(
    [kind, subject, authenticatedBy, clientId, user],
    ["service", keys.publicKey, "SystemAccountExternal", configuration.applicationId, undefined],
  );
  const again = await filter.authenticate(request);
  assert.ok(again.kind === "answer");
  assert.equal(again.response.status, 401);
  assert.deepEqual(await again.response.json(), {
    error: "signature",
    error_description: "The request is not authenticated.",
  });
});

test("isOptional accepts unsigned requests, never invalid signatures", async () => {
  const errors: Error[] = [];
  const filter = systemAccountExternal(
    { ...configuration, isOptional: true },
    { onError: (error) => errors.push(error) },
  );
  assert.equal((await filter.authenticate(call())).kind, "anonymous");
  const wrong = await signRequest(call(), { ...keys, secretKey: "sgn_sa_other" });
  assert.equal((await filter.authenticate(wrong)).kind, "answer");
  assert.equal(
    (
      await filter.authenticate(
        new Request("https://stock.example/", { headers: { authorization: "Bearer x" } }),
      )
    ).kind,
    "answer",
  );
  assert.equal(errors.length, 2);
  assert.equal((await systemAccountExternal(configuration).authenticate(call())).kind, "answer");
});

test("secret keys from the application, or none configured", async () => {
  const { systemAccountPublicKey, systemAccountSecretKey, ...rest } = configuration;
  assert.throws(() => systemAccountExternal(rest), { code: "configuration" });
  const filter = systemAccountExternal(rest, {
    secretKeyOf: async (key) => (key === keys.publicKey ? keys.secretKey : undefined),
  });
  assert.equal((await filter.authenticate(await signRequest(call(), keys))).kind, "authenticated");
});

test("the specified plain form, a signature of the body alone, is accepted by configuration only", async () => {
  const plain = () => signRequest(call(), keys, { plain: true });
  const kindWith = async (changes: object, options = {}) =>
    (await systemAccountExternal({ ...configuration, ...changes }, options).authenticate(await plain())).kind;
  assert.equal(await kindWith({}), "answer");
  assert.equal(await kindWith({ acceptPlain: true }), "authenticated");
  assert.equal(await kindWith({}, { acceptPlain: true }), "authenticated");
  assert.equal(await kindWith({ acceptPlain: true }, { acceptPlain: false }), "answer");
  const forged = await signRequest(call(), { ...keys, secretKey: "sgn_sa_other" }, { plain: true });
  const filter = systemAccountExternal({ ...configuration, acceptPlain: true });
  assert.equal((await filter.authenticate(forged)).kind, "answer");
});
