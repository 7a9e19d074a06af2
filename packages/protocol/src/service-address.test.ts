import assert from "node:assert/strict";
import { test } from "node:test";
import { isServiceAddress } from "./service-address.ts";

test("secrets travel over https, or within this machine", () => {
  for (const good of [
    "https://id.example",
    "https://id.example:8443/x",
    "http://localhost:8080",
    "http://127.0.0.1",
    "http://[::1]:1/",
  ])
    assert.equal(isServiceAddress(good), true, good);
  for (const bad of [
    "http://id.example",
    "http://localhost.example",
    "http://127.0.0.1.example",
    "https://user:secret@id.example",
    "https://id.example/?a=b",
    "https://id.example/#a",
    "ftp://localhost",
    "id.example",
    "",
  ])
    assert.equal(isServiceAddress(bad), false, bad);
});
