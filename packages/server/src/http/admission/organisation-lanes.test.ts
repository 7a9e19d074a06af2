import assert from "node:assert/strict";
import { test } from "node:test";
import { namedOwner, organisationLanes, SHARED_LANE } from "./organisation-lanes.ts";

const org = "01998d6e-0000-7000-8000-00000000000a";
const other = "01998d6e-0000-7000-8000-00000000000b";
const ownerOf = (url: string, authorization?: string): string =>
  namedOwner({ url, headers: authorization === undefined ? {} : { authorization } });

const of = (id: string, rest = "/token") => ({ url: `/oauth/${id}${rest}`, headers: {} });

test("the organisation of a request is that of its path, in either case", () => {
  for (const path of [
    "/oauth/ID/token",
    "/oauth/manage/ID",
    "/devices/manage/ID?x=1",
    "/api/v1/organisations/ID/users",
  ])
    assert.equal(ownerOf(path.replace("ID", org.toUpperCase())), org, path);
});

test("calls of the legacy API are a system account's, whatever ids their path has", () => {
  assert.equal(ownerOf(`/legacy/api/oauth/clients/${other}`, `${org}:signature`), org);
  assert.equal(ownerOf(`/legacy/api/oauth/clients/${other}`), SHARED_LANE);
});

test("any other path is nobody's", () => {
  assert.equal(ownerOf("/docs", `${org}:signature`), SHARED_LANE);
  for (const path of ["/", "/docs", `/a/b/c/d/${org}`, `/oauth/${org}x/token`, "/oauth/not-an-id/token"])
    assert.equal(ownerOf(path), SHARED_LANE, path);
});

test("made-up organisations share one lane; one that gave a good answer has its own", () => {
  const lanes = organisationLanes();
  assert.equal(lanes.laneOf(of(org)), SHARED_LANE);
  lanes.learn(of(org));
  assert.equal(lanes.laneOf(of(org)), org);
  assert.equal(lanes.laneOf(of(other)), SHARED_LANE);
});

test("a known organisation is found in every spelling of its addresses, and nowhere else", () => {
  const lanes = organisationLanes();
  lanes.learn(of(org.toUpperCase()));
  for (const rest of ["", "/", "?x=1", "/token"]) assert.equal(lanes.laneOf(of(org, rest)), org, rest);
  assert.equal(lanes.laneOf(of(org.toUpperCase())), org);
  assert.equal(lanes.laneOf({ url: `/oauth/manage/${org}`, headers: {} }), org);
  assert.equal(lanes.laneOf(of(org, "x/token")), SHARED_LANE);
});

test("no more are known than there is room for", () => {
  const lanes = organisationLanes(1);
  lanes.learn(of(org));
  lanes.learn(of(other));
  assert.deepEqual([lanes.laneOf(of(org)), lanes.laneOf(of(other))], [SHARED_LANE, other]);
});
