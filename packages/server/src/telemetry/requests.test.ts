import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { startMeasuring } from "./families.ts";
import { forgetOrganisations, measureRequest, watchOrganisations } from "./requests.ts";

let end: () => void;
before(() => {
  end = startMeasuring();
});
after(() => {
  forgetOrganisations();
  end();
});

test("the organisations that send most are named, and ids that somebody makes up push none of them out", async () => {
  const family = watchOrganisations();
  const ask = (orgId: string | undefined, status: number, times: number) => {
    for (let at = 0; at < times; at++)
      measureRequest({ method: "POST", route: "/oauth/:org/token", status, durationMs: 1, orgId });
  };
  for (let at = 1; at <= 25; at++) ask(`real-${at}`, at % 2 === 0 ? 200 : 401, at);
  ask(undefined, 200, 100);
  for (let at = 0; at < 2_000; at++) ask(`made-up-${at % 1_500}`, 404, 20);
  const { values } = await family.get();
  const named = values.map(({ labels, value }) => [labels["organisation"], value]);
  assert.deepEqual(
    named,
    Array.from({ length: 20 }, (_, at) => [`real-${25 - at}`, 25 - at]),
  );
});
